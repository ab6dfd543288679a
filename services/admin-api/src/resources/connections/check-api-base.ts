import type { ProviderKind } from '@backstop/contracts'
import { createHostList, type HostList } from '@backstop/kit/egress'
import { PROVIDERS } from '@backstop/providers'
import { hasAllowedHost, refusedField, refusedUrl } from '../../http/refused-field.ts'
import type { AdminParts } from '../../parts.ts'

const OWN_HOSTS = Object.fromEntries(
  Object.values(PROVIDERS).map(({ kind, readBack }) => [kind, createHostList(readBack.apiHosts)]),
) as Readonly<Record<ProviderKind, HostList>>

/**
 * Refuses an api_base whose host is neither the provider's own nor allowed by the operator, because the read key is sent there.
 * @throws AppError `egress_blocked`, `invalid_request`
 */
export function checkApiBase(
  { checkUrl, apiBaseHosts }: Pick<AdminParts, 'checkUrl' | 'apiBaseHosts'>,
  kind: ProviderKind,
  apiBase: string | null | undefined,
): void {
  if (apiBase == null) return
  const blocked = checkUrl(apiBase)
  if (blocked !== undefined) throw refusedUrl('body.api_base', blocked)
  if (hasAllowedHost(OWN_HOSTS[kind], apiBase) || apiBaseHosts.includesHostOf(apiBase)) return
  const own = PROVIDERS[kind].readBack.apiHosts.join(' or ')
  throw refusedField(
    'body.api_base',
    `Give an https URL of ${own}, or leave it out; an operator allows other hosts by API_BASE_ALLOW_HOSTS`,
  )
}
