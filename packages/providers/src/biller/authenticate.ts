/**
 * Subscription biller (Chargebee): only HTTP basic authentication (RFC 7617). Neither body nor time is signed, so anyone with the
 * password can send any content. Therefore its events are only hints, and the objects are read from the provider.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@backstop/kit/config'
import type { AuthenticationRequest, AuthenticationResult, InboundCredential, PreparedSecret } from '../provider.ts'
import { singleHeader } from '../single-header.ts'

/** The fixed user name of these connections. */
const USERNAME = 'service'

/** The name of the scheme in any case, then blanks, then base64 with its padding. */
const BASIC_SHAPE = /^basic +([A-Za-z0-9+/]+={0,2})$/i
const COLON = 0x3a
const usernameDigest = digestOf(Buffer.from(USERNAME, 'utf8'))

/**
 * Prepares a password. It has no minimum length, unlike signing keys: a request contains the password itself, so a captured
 * request needs no search. Backstop generates passwords of about 190 bits.
 */
export function prepareSecret(secret: Secret): PreparedSecret {
  const password = secret.reveal()
  if (password === '') return { kind: 'unusable', reason: 'secret_empty' }
  if (/\s/.test(password)) return { kind: 'unusable', reason: 'secret_has_whitespace' }
  return { kind: 'prepared', credential: { kind: 'password', digest: digestOf(Buffer.from(password, 'utf8')) } }
}

/** Checks the password of a notification. */
export function authenticate(
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  const header = singleHeader(request.headerValues)
  if (header.kind === 'refused') return header
  const pair = parseBasic(header.value)
  if (pair === undefined) return { kind: 'refused', reason: 'credential_malformed' }

  // Digests have equal lengths, as timingSafeEqual requires, and hide the length of the password.
  const isService = timingSafeEqual(digestOf(pair.username), usernameDigest)
  const given = digestOf(pair.password)
  let secretIndex = -1
  for (const [index, secret] of secrets.entries()) {
    if (secret.kind !== 'password') continue
    const fits = timingSafeEqual(given, secret.digest)
    if (fits && secretIndex === -1) secretIndex = index
  }
  if (!isService || secretIndex === -1) return { kind: 'refused', reason: 'password_mismatch' }
  return { kind: 'authentic', secretIndex, ageS: null }
}

/** User name and password as bytes; undefined for a header that is not their exact encoding. */
function parseBasic(header: string): { username: Buffer; password: Buffer } | undefined {
  const encoded = BASIC_SHAPE.exec(header)?.[1]
  if (encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64')
  // Buffer.from skips invalid characters, so the bytes are encoded again and compared with the text.
  if (bytes.toString('base64') !== encoded) return undefined
  // The first colon is the separator, because a password may contain colons.
  const colon = bytes.indexOf(COLON)
  if (colon < 0) return undefined
  return { username: bytes.subarray(0, colon), password: bytes.subarray(colon + 1) }
}

function digestOf(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest()
}
