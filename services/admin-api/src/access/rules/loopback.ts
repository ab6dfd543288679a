const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i

/** True for localhost and the loopback addresses, with or without a port. @param host as in a Host header */
export function isLoopback(host: string | undefined): boolean {
  return host !== undefined && LOOPBACK_HOST.test(host)
}
