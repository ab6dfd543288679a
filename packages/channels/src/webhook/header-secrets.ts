import { Secret } from '@backstop/kit'

/** Shorter parts are treated as ordinary words, because headers contain those too (`X-Env: live`). */
const MIN_LENGTH = 6

/**
 * The secrets in the value of a custom header that a receiver may echo: the value, the credentials without their scheme, and the
 * user and password that Basic encodes (RFC 9110 §11.4, RFC 7617 §2).
 */
export function headerSecrets(value: Secret): Secret[] {
  const text = value.reveal()
  const credentials = /^[\w-]+ +(.+)$/.exec(text)?.[1] ?? text
  const parts = [text, credentials, ...credentials.split(/[\s,;:="']+/), ...loginOf(text)]
  return parts.filter(part => part.length >= MIN_LENGTH).map(part => new Secret(part))
}

/** The user and the password of Basic credentials, together and each alone; empty for another scheme. */
function loginOf(value: string): string[] {
  const encoded = /^Basic +(\S+)$/i.exec(value)?.[1]
  if (encoded === undefined) return []
  const login = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = login.indexOf(':')
  return [login, login.slice(0, Math.max(0, colon)), login.slice(colon + 1)]
}
