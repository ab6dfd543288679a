import type { HostList } from '@backstop/kit/egress'

/** True if the URL uses https on the default port and its host is in the list. Another port may belong to another program. */
export function hasAllowedHost(hosts: HostList, url: string): boolean {
  const { protocol, port } = URL.parse(url) ?? {}
  return protocol === 'https:' && port === '' && hosts.includesHostOf(url)
}
