import {
  type ChannelConfigPatch,
  type ChannelDocument,
  hasDigests,
  isServiceHost,
  serviceHostsOf,
  urlsOf,
} from '@backstop/channels'
import type { ChannelFilter, ChannelKind, QuietHours } from '@backstop/contracts'
import { refuseCustomHeaders } from '@backstop/kit/egress'
import { hasAllowedHost, refusedField, refusedUrl } from '../../http/refused-field.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'

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

/**
 * Refuses quiet hours for a kind without digests, because all held alerts would arrive one by one when the quiet hours end.
 * @throws AppError `invalid_request`
 */
export function checkQuietHours(kind: ChannelKind, quietHours: QuietHours | null): void {
  if (quietHours === null || hasDigests(kind)) return
  throw refusedField(
    'body.quiet_hours',
    `Only slack and email have quiet hours, because only they send the held alerts as one digest; set them in the service that gets the alerts of this ${kind} channel`,
  )
}

/** Finds the channels whose filters name only deleted connections: they get no alert about a connection. */
export async function findDeafChannels(
  { connections }: Pick<ReadCollections, 'connections'>,
  channels: readonly Pick<ChannelDocument, '_id' | 'filter'>[],
): Promise<ReadonlySet<string>> {
  const named = new Set(channels.flatMap(({ filter }) => filter?.connection_ids ?? []))
  if (named.size === 0) return new Set()
  const found = await connections.findAll({ _id: { in: [...named] }, deleted_at: null })
  const existing = new Set(found.map(({ _id }) => _id))
  const isDeaf = ({ filter }: Pick<ChannelDocument, 'filter'>) =>
    filter?.connection_ids != null && !filter.connection_ids.some(id => existing.has(id))
  return new Set(channels.filter(isDeaf).map(({ _id }) => _id))
}

/**
 * Refuses a filter that names a connection that the project does not have, because such a channel would get no alerts.
 * @throws AppError `invalid_request`
 */
export async function checkFilter(
  { connections }: Pick<ReadCollections, 'connections'>,
  projectId: string,
  filter: ChannelFilter | null,
): Promise<void> {
  const named = filter?.connection_ids ?? []
  if (named.length === 0) return
  const found = await connections.findAll({ _id: { in: named }, project_id: projectId, deleted_at: null })
  const existing = new Set(found.map(({ _id }) => _id))
  const missing = named.findIndex(id => !existing.has(id))
  if (missing === -1) return
  throw refusedField(
    `body.filter.connection_ids.${missing}`,
    `The project has no connection ${named[missing]}; list its connections with GET /v1/projects/${projectId}/connections`,
  )
}
