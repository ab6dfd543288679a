import type { ChannelDocument } from '@backstop/channels'
import type { ChannelFilter } from '@backstop/contracts'
import { refusedField } from '../../http/refused-field.ts'
import type { ReadCollections } from '../../store/stores.ts'

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
