/**
 * The signature scheme of processor and reseller, whose headers differ in punctuation: `name=value` pairs with one Unix time in
 * seconds, and HMAC-SHA256 signatures in hex over time, separator and raw body. The key is the whole secret in UTF-8, with its
 * prefix, as in stripe-node and the Paddle SDKs and unlike Standard Webhooks.
 *
 * The check is stricter than the official SDKs, which accept any time in the future and `t=1700000000xyz`, and of which some
 * compare in variable time. The tests give the SDK's result for every case.
 */
import { timingSafeEqual } from 'node:crypto'
import type { Secret } from '@backstop/kit/config'
import type {
  AuthenticationRequest,
  AuthenticationResult,
  InboundCredential,
  PreparedSecret,
  Provider,
  RefusalReason,
} from './provider.ts'
import { createSigner } from './signer.ts'
import { singleHeader } from './single-header.ts'

/** The punctuation and names of one provider. */
export interface SignatureScheme {
  readonly separator: string
  readonly timestampName: string
  readonly signatureName: string
  /** The separator between time and body in the signed text. */
  readonly joint: string
}

/** How far the signed time may be in the past or the future, in seconds. */
const TOLERANCE_S = 300
/**
 * The largest number of accepted signatures. Each is compared with each secret; providers send two or three during a rotation.
 */
const MAX_SIGNATURES = 16
const MIN_SECRET_BYTES = 16

const TIMESTAMP_SHAPE = /^\d{1,12}$/
/** The form of a signature, which is compared as text: node:crypto returns a text faster than a Buffer. */
const SIGNATURE_SHAPE = /^[0-9a-f]{64}$/

type ParsedSignature =
  | { readonly kind: 'parsed'; readonly timestamp: string; readonly signatures: readonly Buffer[] }
  | { readonly kind: 'refused'; readonly reason: RefusalReason }

/** How a provider with this scheme prepares its signing secrets, and authenticates notifications. */
export function timestampedSignature(scheme: SignatureScheme): Pick<Provider, 'prepareSecret' | 'authenticate'> {
  return {
    prepareSecret: prepareSigningKey,
    authenticate: (request, secrets) => authenticateSignature(scheme, request, secrets),
  }
}

/** Prepares an HMAC key, or returns the reason why the secret is unusable. */
function prepareSigningKey(secret: Secret): PreparedSecret {
  const bytes = Buffer.from(secret.reveal(), 'utf8')
  if (bytes.length === 0) return { kind: 'unusable', reason: 'secret_empty' }
  if (/\s/.test(secret.reveal())) return { kind: 'unusable', reason: 'secret_has_whitespace' }
  if (bytes.length < MIN_SECRET_BYTES) return { kind: 'unusable', reason: 'secret_too_short' }
  return { kind: 'prepared', credential: { kind: 'signing_key', sign: createSigner(bytes) } }
}

/** Checks the signature of a notification, then the age of its signed time. */
function authenticateSignature(
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
    const expected = Buffer.from(secret.sign(parsed.timestamp + scheme.joint, request.body), 'latin1')
    for (const signature of parsed.signatures) {
      const fits = timingSafeEqual(expected, signature)
      if (fits && secretIndex === -1) secretIndex = index
    }
  }
  if (secretIndex === -1) return { kind: 'refused', reason: 'signature_mismatch' }

  // The age is checked after the signature, because an unsigned time proves nothing.
  const ageS = Math.floor(request.nowMs / 1000) - Number(parsed.timestamp)
  if (ageS > TOLERANCE_S) return { kind: 'refused', reason: 'timestamp_too_old' }
  if (ageS < -TOLERANCE_S) return { kind: 'refused', reason: 'timestamp_in_future' }
  return { kind: 'authentic', secretIndex, ageS }
}

/**
 * Parses the header, which must have exactly one time. Malformed signatures and unknown names, e.g. of other versions of the
 * scheme, are skipped. Blanks are not trimmed.
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
      if (SIGNATURE_SHAPE.test(value)) signatures.push(Buffer.from(value, 'latin1'))
    }
  }
  if (timestamp === undefined) return { kind: 'refused', reason: 'timestamp_missing' }
  if (!TIMESTAMP_SHAPE.test(timestamp)) return { kind: 'refused', reason: 'timestamp_malformed' }
  if (signatureCount > MAX_SIGNATURES) return { kind: 'refused', reason: 'too_many_signatures' }
  if (signatures.length === 0) return { kind: 'refused', reason: 'signature_missing' }
  return { kind: 'parsed', timestamp, signatures }
}
