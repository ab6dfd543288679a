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
 * How long IPv4 addresses wait for those of IPv6, in milliseconds. Some name servers drop questions for AAAA: waiting for
 * those would take all the time that there is for connecting. RFC 8305 §3 waits 50 ms, for a browser's user.
 */
const LATE_V6_MS = 300
/** How long IPv6 addresses wait for those of IPv4: where IPv6 leads nowhere, nothing else does. Enough for one repeat. */
const LATE_V4_MS = 2_500

/**
 * Asks the name servers directly, without the operating system's resolver: that one runs on Node's four shared threads,
 * so a few names with a dead server would hold up every other channel (and every file read) of the process.
 * @param options `hostsFile`: fall back to the operating system, with its hosts file and search domains, for names that
 *   public DNS does not know. Only of use where the operator allowed a private network. `servers`: other name servers than
 *   those of the machine, `host:port`.
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

/** What comes too late is left out whole: it is not checked, and nothing connects to it. */
async function askBothFamilies(dns: DnsResolver, host: string) {
  const found: ResolvedAddress[] = []
  const take = (addresses: readonly string[], family: 4 | 6) =>
    found.push(...addresses.map(address => ({ address, family })))
  const v6 = dns.resolve6(host).then(addresses => take(addresses, 6))
  const v4 = dns.resolve4(host).then(addresses => take(addresses, 4))
  const failure: unknown = await Promise.any([
    v6.then(() => [v4, LATE_V4_MS] as const),
    v4.then(() => [v6, LATE_V6_MS] as const),
  ]).then(
    ([other, ms]) => atMost(ms, Promise.allSettled([other])),
    ({ errors: [, ofV4] }: AggregateError) => ofV4,
  )
  // IPv6 first, as RFC 6724 §6 has it; and a copy, which nothing late is added to.
  return { found: found.toSorted((one, other) => other.family - one.family), failure }
}

/** Waits for it, and no longer than that. */
async function atMost(ms: number, wanted: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([wanted, promise])
  clearTimeout(timer)
}
