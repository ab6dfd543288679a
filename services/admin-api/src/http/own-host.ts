import type { HostList } from '@backstop/kit'

/** Whether a URL leads to one of the hosts by https, on its own port: another port may belong to another program. */
export function isAtOwnHost(hosts: HostList, url: string): boolean {
  const { protocol, port } = URL.parse(url) ?? {}
  return protocol === 'https:' && port === '' && hosts.includesHostOf(url)
}
