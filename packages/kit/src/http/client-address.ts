import ipaddr from 'ipaddr.js'

/** True if an address belongs to a proxy whose `X-Forwarded-For` is trusted. */
export type IsTrustedProxy = (address: string) => boolean

/**
 * The client address of a request: the peer's address, or the address stated by trusted proxies. Each proxy appends the
 * address of its peer, so the list is read from its end as long as trusted proxies wrote it; a client may have invented
 * the earlier entries (RFC 7239 §8.1).
 * @param forwardedFor every value of `X-Forwarded-For`, in order of arrival
 */
export function clientAddress(peer: string, forwardedFor: readonly string[], isTrustedProxy: IsTrustedProxy): string {
  let address = peer
  const hops = forwardedFor.flatMap(value => value.split(',')).map(hop => withoutPort(hop.trim()))
  while (isTrustedProxy(address)) {
    const hop = hops.pop()
    if (hop === undefined || !ipaddr.isValid(hop)) break
    address = hop
  }
  return address
}

/**
 * The key for limits per client: the IPv4 address, or the /64 of an IPv6 address, the smallest block that providers
 * assign.
 */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return 'unknown'
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map(part => part.toString(16))
    .join(':')}::/64`
}

/** Removes the port that some proxies append: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}
