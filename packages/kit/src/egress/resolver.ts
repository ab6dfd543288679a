import { Resolver as DnsResolver, lookup } from 'node:dns/promises'

export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/**
 * Every address of a host name; rejects when there is none.
 * @param host a name, never an IP literal
 */
export type Resolve = (host: string) => Promise<readonly ResolvedAddress[]>

/**
 * How long an IPv4 answer waits for the IPv6 answer, in milliseconds. Some name servers drop AAAA queries, and waiting for those would use up the time
 * for connecting. RFC 8305 §3 waits 50 ms, for a browser's user.
 */
const LATE_V6_MS = 300
/** How long an IPv6 answer waits for the IPv4 answer, in milliseconds: if IPv6 does not work, only IPv4 does. Enough for one repeated query. */
const LATE_V4_MS = 2_500

/**
 * Queries the name servers directly. The operating system's resolver runs on Node's four shared threads, so a few names with a dead server would block
 * every other channel (and every file read) of the process.
 * @param options `hostsFile`: use the operating system, with its hosts file and search domains, for names that public DNS does not know; for private
 *   networks that the operator allowed. `servers`: name servers instead of the machine's, `host:port`.
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
    const { found, failure } = await askBothFamilies(dns, host)
    if (found.length > 0) return found
    if (options.hostsFile) return fromSystem(host)
    throw failure ?? new Error('The host name has no address')
  }
}

/** Drops an answer that arrives too late: it is not checked, and nothing connects to it. */
async function askBothFamilies(dns: DnsResolver, host: string) {
  const found: ResolvedAddress[] = []
  const add = (addresses: readonly string[], family: 4 | 6) =>
    found.push(...addresses.map(address => ({ address, family })))
  const v6 = dns.resolve6(host).then(addresses => add(addresses, 6))
  const v4 = dns.resolve4(host).then(addresses => add(addresses, 4))
  const failure: unknown = await Promise.any([
    v6.then(() => [v4, LATE_V4_MS] as const),
    v4.then(() => [v6, LATE_V6_MS] as const),
  ]).then(
    ([other, ms]) => atMost(ms, Promise.allSettled([other])),
    ({ errors: [, ofV4] }: AggregateError) => ofV4,
  )
  // IPv6 first (RFC 6724 §6). A copy, which late answers do not change.
  return { found: found.toSorted((one, other) => other.family - one.family), failure }
}

/** Waits for `wanted`, at most `ms` milliseconds. */
async function atMost(ms: number, wanted: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([wanted, promise])
  clearTimeout(timer)
}
