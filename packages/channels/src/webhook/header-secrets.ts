import { Secret } from '@backstop/kit'

/** Headers hold ordinary words as well (`X-Env: live`): anything shorter is taken for one. */
const MIN_LENGTH = 6

/**
 * What a receiver may repeat of a custom header's value: the value, the credentials in it without the scheme before them, and
 * what Basic encodes (RFC 9110 §11.4, RFC 7617 §2).
 */
export function headerSecrets(value: Secret): Secret[] {
  const text = value.reveal()
  const credentials = /^[\w-]+ +(.+)$/.exec(text)?.[1] ?? text
  const parts = [text, credentials, ...credentials.split(/[\s,;:="']+/), ...loginOf(text)]
  return parts.filter(part => part.length >= MIN_LENGTH).map(part => new Secret(part))
}

/** User and password, together and alone; none where the scheme is another. */
function loginOf(value: string): string[] {
  const encoded = /^Basic +(\S+)$/i.exec(value)?.[1]
  if (encoded === undefined) return []
  const login = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = login.indexOf(':')
  return [login, login.slice(0, Math.max(0, colon)), login.slice(colon + 1)]
}
