import type { ChannelHealthDocument } from '@backstop/contracts'
import type { HealthStore } from '../../src/health/health-store.ts'
import { dayOf, type HealthChange, oldestDayKept, summariseReports } from '../../src/health/rules/channel-health.ts'
import type { MemoryCollections } from './memory-stores.ts'

/** The in-memory equivalent of the MongoDB store; both pass `test/health.contract.ts`. */
export function createMemoryHealthStore({ channelHealth }: Pick<MemoryCollections, 'channelHealth'>): HealthStore {
  const change = (id: string, facts: Partial<ChannelHealthDocument>) => {
    const known = channelHealth.get(id)
    if (known !== undefined) channelHealth.set(id, { ...known, ...facts })
  }
  const pendingOf = (id: string) => ({ documentId: id, entries: [...(channelHealth.get(id)?.outbox ?? [])] })
  return {
    async record(all) {
      for (const { channelId, projectId, reports } of all) {
        const known = channelHealth.get(channelId)
        channelHealth.set(channelId, withChange(known ?? newHealth(channelId, projectId), summariseReports(reports)))
      }
    },
    async recordHolds(orders) {
      for (const { channelId, projectId, held } of orders) {
        if (held === null && !channelHealth.has(channelId)) continue
        const { held: before, ...known } = channelHealth.get(channelId) ?? newIdentity(channelId, projectId)
        const isOver = held !== null && known.last_success_at !== null && known.last_success_at >= held.since
        const next = isOver ? before : held
        channelHealth.set(channelId, next == null ? known : { ...known, held: next })
      }
    },
    async findHeld(ids) {
      return [...channelHealth.values()].filter(one => ids.includes(one._id) && one.held !== undefined)
    },
    async failingSince(ids, sinceMs) {
      return [...channelHealth.values()]
        .filter(one => ids.includes(one._id) && one.disabled_at === null)
        .filter(one => one.failing_since != null && one.failing_since.getTime() <= sinceMs)
        .map(one => structuredClone(one))
    },
    async disable(orders) {
      for (const { channelId, atMs, reason, incidentId, entry } of orders) {
        const known = channelHealth.get(channelId)
        if (known === undefined || known.disabled_at !== null) continue
        change(channelId, {
          disabled_at: new Date(atMs),
          disabled_reason: reason,
          disabled_incident_id: incidentId,
          outbox: [...(known.outbox ?? []), entry],
        })
      }
      return orders
        .filter(order => channelHealth.get(order.channelId)?.disabled_incident_id === order.incidentId)
        .map(order => pendingOf(order.channelId))
    },
    async find(id) {
      const found = channelHealth.get(id)
      return found === undefined ? undefined : structuredClone(found)
    },
    async enable(id, { incidentId, entry }) {
      const known = channelHealth.get(id)
      if (known === undefined || (known.disabled_incident_id ?? null) !== incidentId) return undefined
      change(id, {
        disabled_at: null,
        disabled_reason: null,
        disabled_incident_id: null,
        failing_since: null,
        undelivered_since: null,
        ...(entry === null ? {} : { outbox: [...(known.outbox ?? []), entry] }),
      })
      return pendingOf(id)
    },
    async findTroubled() {
      return [...channelHealth.values()]
        .filter(one => one.undelivered_since != null || one.unreached !== undefined || one.failing_incident_id != null)
        .map(one => structuredClone(one))
    },
    async recordReach(orders) {
      for (const { channelId, projectId, unreached } of orders) {
        const known = channelHealth.get(channelId) ?? (unreached && newIdentity(channelId, projectId))
        if (known === null) continue
        const { unreached: before, ...rest } = known
        channelHealth.set(
          channelId,
          unreached === null
            ? { ...rest, undelivered_since: rest.failing_since ?? null }
            : { ...rest, unreached: { since: before?.since ?? unreached.since, reason: unreached.reason } },
        )
      }
    },
    async changeFailing(orders) {
      for (const { kind, channelId, incidentId, entry } of orders) {
        const known = channelHealth.get(channelId)
        if (known === undefined) continue
        const isTroubled = known.undelivered_since != null || known.unreached !== undefined
        const fits =
          kind === 'open'
            ? known.failing_incident_id == null && known.disabled_at === null && isTroubled
            : known.failing_incident_id === incidentId
        if (!fits) continue
        const outbox = [...(known.outbox ?? []), entry]
        change(channelId, { failing_incident_id: kind === 'open' ? incidentId : null, outbox })
      }
      return orders.map(order => pendingOf(order.channelId)).filter(one => one.entries.length > 0)
    },
    outbox: {
      async pending(writtenBefore, limit) {
        return [...channelHealth.values()]
          .filter(one => one.outbox?.some(entry => entry.at < writtenBefore))
          .slice(0, limit)
          .map(one => pendingOf(one._id))
      },
      async published(documents) {
        for (const { documentId, entryIds } of documents) {
          const outbox = channelHealth.get(documentId)?.outbox?.filter(entry => !entryIds.includes(entry.id))
          if (outbox !== undefined) change(documentId, { outbox })
        }
      },
    },
  }
}

function newHealth(_id: string, project_id: string): ChannelHealthDocument {
  return { ...newIdentity(_id, project_id), failing_since: null, undelivered_since: null, days: {} }
}

function newIdentity(_id: string, project_id: string): ChannelHealthDocument {
  return {
    _id,
    project_id,
    disabled_at: null,
    disabled_reason: null,
    disabled_incident_id: null,
    last_success_at: null,
    last_failure_at: null,
    last_error: null,
  }
}

function withChange({ held, ...known }: ChannelHealthDocument, change: HealthChange): ChannelHealthDocument {
  const since = change.failingSinceMs === null ? null : new Date(change.failingSinceMs)
  const undelivered = change.undeliveredSinceMs === null ? null : new Date(change.undeliveredSinceMs)
  const isOver = change.lastSuccessAtMs !== null && (held?.since.getTime() ?? 0) <= change.lastSuccessAtMs
  return {
    ...known,
    ...(held === undefined || isOver ? {} : { held }),
    last_success_at: latestOf(known.last_success_at, change.lastSuccessAtMs),
    last_failure_at: latestOf(known.last_failure_at, change.lastFailureAtMs),
    last_error: change.lastError ?? known.last_error,
    failing_since: change.hasWorked ? since : (known.failing_since ?? since),
    undelivered_since: change.hasWorked ? undelivered : (known.undelivered_since ?? known.failing_since ?? undelivered),
    days: mergedDays(known.days ?? {}, change.days),
  }
}

function mergedDays(
  known: NonNullable<ChannelHealthDocument['days']>,
  added: HealthChange['days'],
): NonNullable<ChannelHealthDocument['days']> {
  const days = { ...known }
  for (const [day, { delivered, failed }] of Object.entries(added)) {
    const before = days[day] ?? { delivered: 0, failed: 0 }
    days[day] = { delivered: before.delivered + delivered, failed: before.failed + failed }
  }
  const oldest = oldestDayKept(Object.keys(added).sort().at(-1) ?? dayOf(0))
  return Object.fromEntries(Object.entries(days).filter(([day]) => day >= oldest))
}

function latestOf(known: Date | null, atMs: number | null): Date | null {
  const latest = Math.max(known?.getTime() ?? 0, atMs ?? 0)
  return latest === 0 ? null : new Date(latest)
}
