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
 * Asks the name servers directly, without the operating system's resolver: that one runs on Node's four shared threads,
 * so a few names with a dead server would hold up every other channel (and every file read) of the process.
 * @param options `hostsFile`: fall back to the operating system, with its hosts file and search domains, for names that
 *   public DNS does not know. Only of use where the operator allowed a private network.
 */
export function createResolver(options: { hostsFile: boolean }): Resolve {
  const dns = new DnsResolver({ timeout: 2_000, tries: 2 })
  const fromSystem: Resolve = async host => {
    const answers = await lookup(host, { all: true, order: 'verbatim' })
    return answers.map(answer => ({ address: answer.address, family: answer.family === 6 ? 6 : 4 }))
  }
  return async host => {
    if (options.hostsFile && !host.includes('.')) return fromSystem(host)
    const [v4, v6] = await Promise.allSettled([dns.resolve4(host), dns.resolve6(host)])
    const found: ResolvedAddress[] = [
      ...(v6.status === 'fulfilled' ? v6.value.map(address => ({ address, family: 6 as const })) : []),
      ...(v4.status === 'fulfilled' ? v4.value.map(address => ({ address, family: 4 as const })) : []),
    ]
    if (found.length > 0) return found
    if (options.hostsFile) return fromSystem(host)
    throw v4.status === 'rejected' ? v4.reason : new Error('The host name has no address')
  }
}
