import { type ChannelConfigPatch, isServiceHost, serviceHostsOf, urlsOf } from '@backstop/channels'
import type { ChannelKind } from '@backstop/contracts'
import { refuseCustomHeaders } from '@backstop/kit/egress'
import { hasAllowedHost } from '../../http/allowed-host.ts'
import { refusedField } from '../../http/refused-field.ts'
import { refusedUrl } from '../../http/refused-url.ts'
import type { AdminParts } from '../../parts.ts'

/**
 * Refuses URLs that a channel may not deliver to, and headers that it may not send.
 * @param config the config of a new channel, or the changed parts of an existing config
 * @throws AppError `egress_blocked`, `invalid_request`
 */
export function checkTarget(
  { checkUrl, channelHosts }: Pick<AdminParts, 'checkUrl' | 'channelHosts'>,
  kind: ChannelKind,
  config: ChannelConfigPatch,
): void {
  const hosts = serviceHostsOf(kind)
  for (const { field, url } of urlsOf(kind, config)) {
    const blocked = checkUrl(url)
    if (blocked !== undefined) throw refusedUrl(`body.config.${field}`, blocked)
    if (hosts === undefined) continue
    const ofService = { includesHostOf: (one: string) => isServiceHost(hosts, URL.parse(one)?.hostname ?? '') }
    if (!hasAllowedHost(ofService, url) && !channelHosts.includesHostOf(url)) {
      throw refusedField(
        `body.config.${field}`,
        `${hosts.remedy}; an operator allows other hosts with CHANNEL_ALLOW_HOSTS`,
      )
    }
  }
  const fault = config.headers === undefined ? undefined : refuseCustomHeaders(config.headers)
  if (fault !== undefined) throw refusedField('body.config.headers', fault)
}
