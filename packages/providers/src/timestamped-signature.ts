/**
 * The scheme that processor and reseller share, with different punctuation: a header of `name=value` pairs, one of them
 * a Unix time in seconds, others HMAC-SHA256 signatures in hex over time, joint and raw body. The key is the UTF-8 of
 * the whole secret, prefix included (stripe-node and the Paddle SDKs do the same; Standard Webhooks does not).
 *
 * Where the official SDKs are lax we are not: they accept any time in the future and `t=1700000000xyz`, and some compare
 * in variable time. The tests hold every case with what the SDK does.
 */
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@backstop/kit'
import type {
  AuthenticationRequest,
  AuthenticationResult,
  InboundCredential,
  PreparedSecret,
  RefusalReason,
} from './provider.ts'
import { singleHeader } from './single-header.ts'

export interface SignatureScheme {
  readonly separator: string
  readonly timestampName: string
  readonly signatureName: string
  /** Stands between the time and the body in what is signed. */
  readonly joint: string
}

/** How far the signed time may lie from ours, in seconds, both ways. */
const TOLERANCE_S = 300
/** Each signature costs a comparison per secret; providers send one per active secret, so two or three. */
const MAX_SIGNATURES = 16
const MIN_SECRET_BYTES = 16

const TIMESTAMP_SHAPE = /^\d{1,12}$/
/** Checked before decoding, because Buffer.from(text, 'hex') stops at the first bad character without a word. */
const SIGNATURE_SHAPE = /^[0-9a-f]{64}$/

type ParsedSignature =
  | { readonly kind: 'parsed'; readonly timestamp: string; readonly signatures: readonly Buffer[] }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

export function prepareSigningKey(secret: Secret): PreparedSecret {
  const bytes = Buffer.from(secret.reveal(), 'utf8')
  if (bytes.length === 0) return { kind: 'unusable', reason: 'secret_empty' }
  if (/\s/.test(secret.reveal())) return { kind: 'unusable', reason: 'secret_has_whitespace' }
  if (bytes.length < MIN_SECRET_BYTES) return { kind: 'unusable', reason: 'secret_too_short' }
  return { kind: 'prepared', credential: { kind: 'signing_key', key: createSecretKey(bytes) } }
}

export function authenticateSignature(
  scheme: SignatureScheme,
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  const header = singleHeader(request.headerValues)
  if (header.kind === 'refused') return header
  const parsed = parseSignature(scheme, header.value)
  if (parsed.kind === 'refused') return parsed

  let secretIndex = -1
  for (const [index, secret] of secrets.entries()) {
    if (secret.kind !== 'signing_key') continue
    const expected = createHmac('sha256', secret.key)
      .update(parsed.timestamp + scheme.joint)
      .update(request.body)
      .digest()
    for (const signature of parsed.signatures) {
      const fits = timingSafeEqual(expected, signature)
      if (fits && secretIndex === -1) secretIndex = index
    }
  }
  if (secretIndex === -1) return { kind: 'refused', reason: 'signature_mismatch' }

  // After the signature: until that fits, the time is only what somebody wrote.
  const ageS = Math.floor(request.nowMs / 1000) - Number(parsed.timestamp)
  if (ageS > TOLERANCE_S) return { kind: 'refused', reason: 'timestamp_too_old' }
  if (ageS < -TOLERANCE_S) return { kind: 'refused', reason: 'timestamp_in_future' }
  return { kind: 'authentic', secretIndex, ageS }
}

/**
 * Takes the header apart. Exactly one time; signatures that do not have the shape of one are passed over, as are names
 * that the scheme does not know (an older or newer scheme beside ours). Nothing is trimmed.
 */
function parseSignature(scheme: SignatureScheme, header: string): ParsedSignature {
  let timestamp: string | undefined
  let signatureCount = 0
  const signatures: Buffer[] = []
  for (const pair of header.split(scheme.separator)) {
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    const value = equals < 0 ? '' : pair.slice(equals + 1)
    if (name === scheme.timestampName) {
      if (timestamp !== undefined) return { kind: 'refused', reason: 'timestamp_repeated' }
      timestamp = value
    } else if (name === scheme.signatureName) {
      signatureCount += 1
      if (SIGNATURE_SHAPE.test(value)) signatures.push(Buffer.from(value, 'hex'))
    }
  }
  if (timestamp === undefined) return { kind: 'refused', reason: 'timestamp_missing' }
  if (!TIMESTAMP_SHAPE.test(timestamp)) return { kind: 'refused', reason: 'timestamp_malformed' }
  if (signatureCount > MAX_SIGNATURES) return { kind: 'refused', reason: 'too_many_signatures' }
  if (signatures.length === 0) return { kind: 'refused', reason: 'signature_missing' }
  return { kind: 'parsed', timestamp, signatures }
}
