/** The parts of a request by which a browser says where the request comes from. */
export interface RequestOrigin {
  readonly method: string
  /** The Host header. */
  readonly host: string | undefined
  /** The Origin header. */
  readonly origin: string | undefined
  /** The Sec-Fetch-Site header, which only the browser can set. */
  readonly fetchSite: string | undefined
}

export type OriginVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'refused'; readonly reason: 'cross_site' | 'origin_missing' }

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/**
 * Decides whether a request with a session cookie comes from a page of this API's own origin. A browser sends the cookie with requests of
 * other pages too, so a request that changes something must prove its origin.
 */
export function decideOrigin(request: RequestOrigin): OriginVerdict {
  if (SAFE_METHODS.has(request.method)) return { kind: 'accepted' }
  if (request.fetchSite === undefined && request.origin === undefined) {
    return { kind: 'refused', reason: 'origin_missing' }
  }
  return decideSignInOrigin(request)
}

/** Like decideOrigin for a request without a cookie: programs that are no browsers state no origin. */
export function decideSignInOrigin({ host, origin, fetchSite }: RequestOrigin): OriginVerdict {
  if (host === undefined) return REFUSED
  if (fetchSite !== undefined) return fetchSite === 'same-origin' ? { kind: 'accepted' } : REFUSED
  if (origin === undefined) return { kind: 'accepted' }
  const from = URL.parse(origin)
  // `null` is no URL. Anybody in the network can be a page of http, except on loopback.
  if (from === null || !(from.protocol === 'https:' || (from.protocol === 'http:' && isLoopback(host)))) return REFUSED
  return URL.parse(`${from.protocol}//${host}`)?.host === from.host ? { kind: 'accepted' } : REFUSED
}

const REFUSED: OriginVerdict = { kind: 'refused', reason: 'cross_site' }

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** True for localhost and the loopback addresses, with or without a port. @param host as in a Host header */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK_HOST.test(host)
}
