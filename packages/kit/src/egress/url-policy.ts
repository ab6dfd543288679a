import { isIP } from 'node:net'
import type { AddressPolicy } from './address-policy.ts'

/** The reason why a URL is refused before its name is resolved, from a closed list: each word is a metric label. */
export type UrlRefusal =
  | 'malformed'
  | 'too_long'
  | 'scheme'
  | 'credentials'
  | 'fragment'
  | 'port'
  | 'host_name'
  | 'literal_address'

/**
 * The verdict on a URL. `demand` is the condition for the host's addresses: `public` (or allowed), or only `allowed`
 * for a URL that is acceptable in a network that the operator allowed (plain http, another port, a private name).
 */
export type UrlVerdict =
  | { kind: 'acceptable'; url: URL; demand: AddressDemand }
  | { kind: 'refused'; reason: UrlRefusal; message: string }

export type AddressDemand = 'public' | 'allowed'

/** Ports of a public URL. */
const PUBLIC_PORTS = [443, 8443]
const MAX_URL_LENGTH = 2048
const MAX_HOST_LENGTH = 253
/** Suffixes of names that are never public. */
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'localdomain',
  'svc',
  'cluster.local',
  'home.arpa',
  'lan',
  'corp',
  'home',
  'onion',
]

/** Judges a URL without DNS: when it is stored, and again before each request. */
export function judgeUrl(text: string, addresses: AddressPolicy): UrlVerdict {
  return judgeWithOrigin(text, url => judgeTarget(url, addresses))
}

/** Maximum number of origins with a cached verdict. */
const MAX_REMEMBERED = 10_000
/** Scheme, the longest host and a port. */
const MAX_REMEMBERED_LENGTH = MAX_HOST_LENGTH + 14

/**
 * `judgeUrl` for a fixed policy, with a cached verdict for each origin (scheme, host and port), because few origins are
 * judged again before each request. Whole URLs are not cached: the path may be a secret (as in a Slack webhook), and
 * the cache lives as long as the process.
 */
export function createUrlJudge(addresses: AddressPolicy): (text: string) => UrlVerdict {
  const remembered = new Map<string, TargetVerdict>()
  const judgeOrigin = (url: URL): TargetVerdict => {
    const { origin } = url
    const known = remembered.get(origin)
    if (known !== undefined) return known
    const verdict = judgeTarget(url, addresses)
    // A longer origin is always refused, and whoever gives it chooses its length.
    if (origin.length > MAX_REMEMBERED_LENGTH) return verdict
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(origin, verdict)
    return verdict
  }
  return text => judgeWithOrigin(text, judgeOrigin)
}

/** Judges all parts of a URL except the origin, which `judgeOrigin` judges. */
function judgeWithOrigin(text: string, judgeOrigin: (url: URL) => TargetVerdict): UrlVerdict {
  if (text.length > MAX_URL_LENGTH) return refusal('too_long', `The URL is longer than ${MAX_URL_LENGTH} characters`)
  // The URL parser removes tabs and line breaks and replaces backslashes, so the parsed URL would differ from the given
  // text.
  if (/[\s\p{Cc}\\]/u.test(text)) return refusal('malformed', 'The URL contains spaces or control characters')
  const url = URL.parse(text)
  if (url === null) return refusal('malformed', 'The URL cannot be parsed; write it like https://example.com/path')
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return refusal('scheme', 'The URL has to start with https://')
  if (url.username !== '' || url.password !== '') {
    return refusal('credentials', 'The URL contains a user name or password; remove them')
  }
  if (text.includes('#')) return refusal('fragment', 'The URL contains a fragment (#…), which is never sent; remove it')
  const target = judgeOrigin(url)
  return target.kind === 'refused' ? target : { kind: 'acceptable', url, demand: target.demand }
}

type TargetVerdict = { kind: 'acceptable'; demand: AddressDemand } | Extract<UrlVerdict, { kind: 'refused' }>

/**
 * Judges scheme, host and port, the only parts of a URL that a connector knows.
 * @param target `hostname` in the URL parser's form: lower case, dotted numbers, IPv6 in brackets
 */
export function judgeTarget(
  target: { protocol: string; hostname: string; port: string },
  addresses: AddressPolicy,
): TargetVerdict {
  const host = hostWithoutBrackets(target.hostname)
  // The URL parser accepts empty labels, so "localhost.." would pass the suffix checks.
  if (host.length > MAX_HOST_LENGTH || host.split('.').includes('')) {
    return refusal('host_name', 'The host name of the URL is not valid')
  }
  const strict = refuseForPublic(target, host)
  if (isIP(host) !== 0) {
    const verdict = addresses.classify(host)
    if (verdict.kind === 'allowed') return { kind: 'acceptable', demand: 'allowed' }
    if (verdict.kind === 'blocked') {
      return refusal('literal_address', 'The URL points to an address that may not be reached from here')
    }
    return strict ?? { kind: 'acceptable', demand: 'public' }
  }
  if (strict === undefined) return { kind: 'acceptable', demand: 'public' }
  return isPrivateName(host) && mayBeAllowed(host, addresses) ? { kind: 'acceptable', demand: 'allowed' } : strict
}

/** The host without brackets and without a trailing dot, with which it would pass the suffix checks. */
export function hostWithoutBrackets(hostname: string): string {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname
  return bare.endsWith('.') ? bare.slice(0, -1) : bare
}

/** The reason why the target is refused if its addresses are public; undefined if it is accepted. */
function refuseForPublic(
  target: { protocol: string; port: string },
  host: string,
): Extract<UrlVerdict, { kind: 'refused' }> | undefined {
  if (isIP(host) === 0 && isPrivateName(host)) {
    return refusal('host_name', 'The host name is not a public one; use a name that anyone can resolve')
  }
  if (target.protocol !== 'https:') return refusal('scheme', 'The URL has to start with https://')
  const port = target.port === '' ? 443 : Number(target.port)
  if (!PUBLIC_PORTS.includes(port)) {
    return refusal('port', `Port ${port} is not allowed; use one of ${PUBLIC_PORTS.join(', ')}`)
  }
  return undefined
}

function isPrivateName(host: string): boolean {
  return !host.includes('.') || PRIVATE_SUFFIXES.some(suffix => host === suffix || host.endsWith(`.${suffix}`))
}

/** localhost is loopback by definition (RFC 6761); other private names are judged when they are resolved. */
function mayBeAllowed(host: string, addresses: AddressPolicy): boolean {
  if (!addresses.allowsAny) return false
  if (host !== 'localhost' && !host.endsWith('.localhost')) return true
  return ['127.0.0.1', '::1'].some(loopback => addresses.classify(loopback).kind === 'allowed')
}

function refusal(reason: UrlRefusal, message: string): Extract<UrlVerdict, { kind: 'refused' }> {
  return { kind: 'refused', reason, message }
}
