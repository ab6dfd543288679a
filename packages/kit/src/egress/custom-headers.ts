/** The reason why a user's headers for deliveries are refused; undefined if all are accepted. */
export function refuseCustomHeaders(headers: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(headers)
  if (entries.length > MAX_HEADERS) return `There are ${entries.length} headers; at most ${MAX_HEADERS} are allowed`
  let bytes = 0
  for (const [name, value] of entries) {
    if (!TOKEN.test(name)) return `${JSON.stringify(name)} is not a header name; use letters, digits and hyphens`
    if (isReserved(name.toLowerCase())) return `The header ${name} is set by Backstop; leave it out`
    if (!VALUE.test(value)) return `The header ${name} contains characters that are not allowed in a header`
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
  }
  return bytes > MAX_BYTES ? `The headers take ${bytes} bytes; at most ${MAX_BYTES} are allowed` : undefined
}

const MAX_HEADERS = 20
const MAX_BYTES = 4096
/**
 * A header name (RFC 9110 §5.6.2). Values may contain visible ASCII with inner spaces, which cannot end the header
 * early.
 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const VALUE = /^[\x21-\x7e]?(?:[\x20-\x7e]*[\x21-\x7e])?$/

/**
 * Headers that frame the message, that the service sets itself, or that change the behaviour of a proxy (GitLab
 * CVE-2025-6454).
 */
const RESERVED = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'forwarded',
  'via',
  'user-agent',
  'x-real-ip',
])
const RESERVED_PREFIXES = ['proxy-', 'x-forwarded-', 'webhook-', 'x-service-signature']

function isReserved(name: string): boolean {
  return RESERVED.has(name) || RESERVED_PREFIXES.some(prefix => name.startsWith(prefix))
}
