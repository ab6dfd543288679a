import { Secret } from '@backstop/kit/config'

/**
 * Minimum length of a masked part, in characters. Headers also contain short ordinary words (`X-Env: live`), which are
 * not masked.
 */
const MIN_LENGTH = 6

/**
 * The parts of a custom header's value that a receiver may repeat: the whole value, the credentials without their
 * scheme, and the user and password in Basic credentials (RFC 9110 §11.4, RFC 7617 §2).
 */
export function secretsInHeader(value: Secret): Secret[] {
  const text = value.reveal()
  const credentials = /^[\w-]+ +(.+)$/.exec(text)?.[1] ?? text
  const parts = [text, credentials, ...credentials.split(/[\s,;:="']+/), ...basicCredentialsOf(text)]
  return parts.filter(part => part.length >= MIN_LENGTH).map(part => new Secret(part))
}

/** The user and the password of Basic credentials, together and separately; empty for another scheme. */
function basicCredentialsOf(value: string): string[] {
  const encoded = /^Basic +(\S+)$/i.exec(value)?.[1]
  if (encoded === undefined) return []
  const login = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = login.indexOf(':')
  return [login, login.slice(0, Math.max(0, colon)), login.slice(colon + 1)]
}
