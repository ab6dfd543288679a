import { Resolver as DnsResolver, lookup } from 'node:dns/promises'

interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/**
 * Returns all addresses of a host name; rejects if there are none.
 * @param host a name, never an IP literal
 */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

/**
 * How long an IPv4 answer waits for the IPv6 answer, in milliseconds. Some name servers drop AAAA queries, and a long
 * wait would use up the time for connecting. RFC 8305 §3 recommends 50 ms for browsers.
 */
const LATE_V6_MS = 300
/**
 * How long an IPv6 answer waits for the IPv4 answer, in milliseconds: long enough for one repeated query, because IPv4
 * is the only way if IPv6 does not work.
 */
const LATE_V4_MS = 2_500

/**
 * Creates a resolver that queries the name servers directly. The operating system's resolver uses Node's four shared
 * threads, so a few names with an unavailable server would block every other channel (and every file read) of the
 * process.
 * @param options `hostsFile`: use the operating system (with its hosts file and search domains) for names that public
 * DNS does not know, for private networks that the operator allowed. `servers`: name servers to use instead of the
 * machine's, `host:port`.
 */
export function createResolver(options: { hostsFile: boolean; servers?: readonly string[] }): Resolve {
  const dns = new DnsResolver({ timeout: 2_000, tries: 2 })
  if (options.servers !== undefined) dns.setServers(options.servers)
  const fromSystem: Resolve = async host => {
    const answers = await lookup(host, { all: true, order: 'verbatim' })
    return answers.map(answer => ({ address: answer.address, family: answer.family === 6 ? 6 : 4 }))
  }
  return async host => {
    if (options.hostsFile && !host.includes('.')) return fromSystem(host)
    const { found, failure } = await resolveBothFamilies(dns, host)
    if (found.length > 0) return found
    if (options.hostsFile) return fromSystem(host)
    throw failure ?? new Error('The host name has no address')
  }
}

/** Queries both address families and ignores an answer that arrives too late. */
async function resolveBothFamilies(dns: DnsResolver, host: string) {
  const found: ResolvedAddress[] = []
  const add = (addresses: readonly string[], family: 4 | 6) =>
    found.push(...addresses.map(address => ({ address, family })))
  const v6 = dns.resolve6(host).then(addresses => add(addresses, 6))
  const v4 = dns.resolve4(host).then(addresses => add(addresses, 4))
  const failure: unknown = await Promise.any([
    v6.then(() => [v4, LATE_V4_MS] as const),
    v4.then(() => [v6, LATE_V6_MS] as const),
  ]).then(
    ([other, ms]) => waitAtMost(ms, Promise.allSettled([other])),
    ({ errors: [, ofV4] }: AggregateError) => ofV4,
  )
  // IPv6 first (RFC 6724 §6). The array is a copy, so that late answers do not change it.
  return { found: found.toSorted((one, other) => other.family - one.family), failure }
}

/** Waits for `wanted`, at most `ms` milliseconds. */
async function waitAtMost(ms: number, wanted: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([wanted, promise])
  clearTimeout(timer)
}
