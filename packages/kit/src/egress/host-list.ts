import { AppError } from '../errors.ts'
import { contains, type Network, parseAddress, parseNetwork } from './address-policy.ts'
import { hostWithoutBrackets } from './url-policy.ts'

/** Hosts that a URL may have: names, `*.` before a name for any one label, and networks for addresses. */
export interface HostList {
  /** True if the URL has one of the hosts. Compares names without resolving them. */
  includesHostOf(url: string): boolean
}

const LABEL = '(?!-)[a-z0-9_-]{1,63}(?<!-)'
const HOST_NAME = new RegExp(`^(?:\\*\\.)?${LABEL}(?:\\.${LABEL})*$`)

/**
 * @param entries `api.example.com`, `*.example.com`, `10.1.2.3`, `10.0.0.0/8` or `fd00::/8`
 * @throws AppError `config_invalid` for an entry of any other form
 */
export function createHostList(entries: readonly string[]): HostList {
  const names = new Set<string>()
  const networks: Network[] = []
  for (const entry of entries) {
    const name = entry.toLowerCase()
    if (HOST_NAME.test(name) && !/^[\d.]+$/.test(name)) names.add(name)
    else if (/^[\d.]+(?:\/\d+)?$|:/.test(name)) networks.push(parseNetwork(name))
    else
      throw new AppError(
        'config_invalid',
        `${JSON.stringify(entry)} is not a host; write api.example.com or 10.0.0.0/8`,
      )
  }
  return {
    includesHostOf(url) {
      const hostname = URL.parse(url)?.hostname
      if (hostname === undefined || hostname === '') return false
      const host = hostWithoutBrackets(hostname)
      const address = parseAddress(host)
      if (address !== undefined) return contains(networks, address)
      return names.has(host) || names.has(host.replace(/^[^.]+/, '*'))
    },
  }
}
