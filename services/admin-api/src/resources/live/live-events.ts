import { isHeartbeatProject } from '@backstop/contracts'
import type { AdminParts } from '../../parts.ts'
import type { StoredChange } from '../../store/change-feed.ts'
import type { StoredDocument } from '../../store/collection.ts'
import { showAction } from '../actions/actions.ts'
import { showChannel } from '../alert-channels/rules/alert-channel.ts'
import { showConnection } from '../connections/rules/connection.ts'
import { createChannelFacts } from '../deliveries/channel-facts.ts'
import { showDelivery } from '../deliveries/rules/delivery.ts'
import { showIncidents } from '../incidents/show-incidents.ts'

const LIVE_TYPES = ['incident', 'action', 'delivery', 'connection', 'channel'] as const
export type LiveType = (typeof LIVE_TYPES)[number]

/** A changed resource as it is now. */
export interface LiveEvent {
  readonly position: string
  readonly type: LiveType
  readonly projectId: string
  /** The resource as JSON. */
  readonly data: string
}

/** The resource whose answer contains each document. */
const TYPE_OF = {
  incidents: 'incident',
  storm_members: 'incident',
  actions: 'action',
  deliveries: 'delivery',
  connections: 'connection',
  channels: 'channel',
  channel_health: 'channel',
} as const satisfies Record<StoredChange['collection'], LiveType>

interface ShownResource {
  readonly projectId: string
  readonly shown: object
}
/** Reads resources by their ids. A resource that does not exist is left out. */
type ResourceReader = (ids: readonly string[], now: Date) => Promise<ReadonlyMap<string, ShownResource>>

/**
 * Creates the function that turns changes into events. It reads each changed resource once, as it is now: so several changes of one
 * resource are one event, at the position of the last one, and what was erased since a change is in no event.
 */
export function createEventReader(parts: Pick<AdminParts, 'stores' | 'ingressPublicUrl'>) {
  const readers = createReaders(parts)
  return async (changes: readonly StoredChange[], now: Date): Promise<LiveEvent[]> => {
    const latest = new Map<string, { type: LiveType; id: string; position: string }>()
    for (const { collection, id, position } of changes) {
      const type = TYPE_OF[collection]
      const key = `${type}/${id}`
      latest.delete(key)
      latest.set(key, { type, id, position })
    }
    const byType = Map.groupBy(latest.values(), ({ type }) => type)
    const events = await Promise.all(
      [...byType].map(async ([type, changed]) => {
        const ids = changed.map(({ id }) => id)
        const resources = await readers[type](ids, now)
        return changed.flatMap(({ id, position }) => {
          const resource = resources.get(id)
          if (resource === undefined || isHeartbeatProject(resource.projectId)) return []
          return [{ position, type, projectId: resource.projectId, data: JSON.stringify(resource.shown) }]
        })
      }),
    )
    return events.flat().sort((a, b) => (a.position < b.position ? -1 : 1))
  }
}

function createReaders({
  stores,
  ingressPublicUrl,
}: Pick<AdminParts, 'stores' | 'ingressPublicUrl'>): Readonly<Record<LiveType, ResourceReader>> {
  const channelFacts = createChannelFacts(stores)
  return {
    async incident(ids) {
      const incidents = await stores.incidents.findAll({ _id: { in: ids } })
      const shown = await showIncidents(stores, incidents)
      return new Map(shown.map(one => [one.incident_id, { projectId: one.project_id, shown: one }]))
    },
    async action(ids) {
      return shownById(await stores.actions.findAll({ _id: { in: ids } }), showAction)
    },
    async delivery(ids, now) {
      const deliveries = await stores.deliveries.findAll({ _id: { in: ids } })
      const channelIds = [...new Set(deliveries.map(({ channel_id }) => channel_id))]
      const factsOf = byId(await channelFacts.findAll({ _id: { in: channelIds } }))
      return shownById(deliveries, delivery => showDelivery(delivery, factsOf.get(delivery.channel_id), now))
    },
    async connection(ids, now) {
      const [connections, sweeps] = await Promise.all([
        stores.connections.findAll({ _id: { in: ids } }),
        stores.sweeps.findAll({ _id: { in: ids } }),
      ])
      const sweepOf = byId(sweeps)
      return shownById(connections, one => ({
        ...showConnection(one, sweepOf.get(one._id), ingressPublicUrl, now),
        ...deletionOf(one),
      }))
    },
    async channel(ids, now) {
      const [channels, healths] = await Promise.all([
        stores.channels.findAll({ _id: { in: ids } }),
        stores.channelHealth.findAll({ _id: { in: ids } }),
      ])
      const healthOf = byId(healths)
      return shownById(channels, one => ({ ...showChannel(one, healthOf.get(one._id), now), ...deletionOf(one) }))
    },
  }
}

/** GET does not find a deleted connection or channel, so the event says that it is deleted. */
function deletionOf({ deleted_at }: { readonly deleted_at: Date | null }): { deleted_at?: string } {
  return deleted_at === null ? {} : { deleted_at: deleted_at.toISOString() }
}

function byId<D extends StoredDocument>(documents: readonly D[]): ReadonlyMap<string, D> {
  return new Map(documents.map(document => [document._id, document]))
}

function shownById<D extends StoredDocument & { readonly project_id: string }>(
  documents: readonly D[],
  show: (document: D) => object,
): ReadonlyMap<string, ShownResource> {
  return new Map(documents.map(one => [one._id, { projectId: one.project_id, shown: show(one) }]))
}
