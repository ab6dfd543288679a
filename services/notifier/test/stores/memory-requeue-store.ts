import { withoutCustomer, withoutPersonalData } from '@backstop/channels'
import type { Alert, DeliveryDocument, ErasedPerson, ReplayDocument } from '@backstop/contracts'
import {
  ERASED_TEXT,
  type ErasedAlerts,
  REQUEUED_TEXT,
  type ReplayStore,
  type ReplayWindow,
  type RequeueStore,
} from '../../src/replay/requeue-store.ts'
import { overdueBefore } from '../../src/replay/rules/decide-requeue.ts'
import { namesCustomer } from '../../src/replay/rules/names-customer.ts'
import type { MemoryCollections } from './memory-stores.ts'

/** The in-memory equivalents of the MongoDB stores; all pass `test/requeue.contract.ts`. */
export function createMemoryRequeueStore({
  deliveries,
  deliveryErasures,
  erasedActions,
  personErasures,
}: Pick<MemoryCollections, 'deliveries' | 'deliveryErasures' | 'erasedActions' | 'personErasures'>): RequeueStore {
  const inWindow = (window: ReplayWindow) =>
    [...deliveries.values()]
      .filter(one => one.channel_id === window.channel_id && one.project_id === window.project_id && !one.test)
      .filter(one => one.created_at >= window.from && one.created_at < window.to)
  const isRequestedBy = (one: DeliveryDocument, replayId: string) =>
    one.requested_by === replayId && one.next_attempt?.topic === 'deliveries'
  return {
    async find(id) {
      const found = deliveries.get(id)
      return found === undefined ? undefined : structuredClone(found)
    },
    async requeue(orders) {
      const refused = new Set<string>()
      for (const { deliveryId, requestId, attempt, waitsFor, ladderFrom, atMs } of orders) {
        const document = deliveries.get(deliveryId)
        const stands = waitsFor === null ? document?.state === 'dead' : document?.next_attempt?.attempt === waitsFor
        if (document !== undefined && stands) {
          const at = new Date(atMs)
          document.state = 'retrying'
          document.reason = REQUEUED_TEXT
          document.next_attempt = { attempt, due_at: at, topic: 'deliveries' }
          document.requested_by = requestId
          document.updated_at = at
          document.ladder_from = ladderFrom
        } else if (document?.requested_by !== requestId) refused.add(deliveryId)
      }
      return refused
    },
    async recordErasure({ id: _id, projectId: project_id }, count, finishedAt) {
      const known = deliveryErasures.get(_id) ?? { _id, project_id, deliveries: 0, finished_at: null }
      const finished_at = finishedAt ?? known.finished_at
      deliveryErasures.set(_id, { ...known, deliveries: known.deliveries + count, finished_at })
    },
    async erasePersonalData(projectId, about) {
      if (!('connectionId' in about)) {
        for (const _id of about.actionIds) erasedActions.set(_id, { _id, project_id: projectId, at: about.at })
      }
      const person = 'connectionId' in about ? null : (personErasures.get(about.erasureId)?.person ?? null)
      let erased = 0
      for (const one of deliveries.values()) {
        if (one.project_id !== projectId || !isAbout(one.alert, about, person)) continue
        const alert = 'connectionId' in about ? withoutPersonalData(one.alert) : withoutCustomer(one.alert)
        if (alert === one.alert) continue
        one.alert = alert
        one.reason = ERASED_TEXT
        one.attempts = one.attempts.map(attempt => ({
          ...attempt,
          response: null,
          error: attempt.error === null ? null : ERASED_TEXT,
        }))
        erased++
      }
      return erased
    },
    async countFailed(window) {
      return inWindow(window).filter(one => hasFailed(one, window)).length
    },
    async countWaiting(replayId, channelId, most) {
      const waiting = [...deliveries.values()].filter(
        one => one.channel_id === channelId && isRequestedBy(one, replayId),
      )
      return Math.min(most, waiting.length)
    },
    async nextOfReplay(replay, limit) {
      return inWindow(replay)
        .filter(one => hasFailed(one, replay) || isRequestedBy(one, replay._id))
        .filter(one => isAfterCursor(one, replay.cursor))
        .sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1))
        .slice(0, limit)
        .map(one => structuredClone(one))
    },
  }
}

function hasFailed({ state, next_attempt: next }: DeliveryDocument, { requested_at }: ReplayWindow): boolean {
  if (state === 'dead' || (state === 'retrying' && next?.topic !== 'deliveries')) return true
  return (state === 'pending' || state === 'retrying') && next !== null && next.due_at < overdueBefore(requested_at)
}

function isAfterCursor({ created_at, _id }: DeliveryDocument, cursor: ReplayDocument['cursor']): boolean {
  if (cursor === null) return true
  const distance = created_at.getTime() - cursor.created_at.getTime()
  return distance > 0 || (distance === 0 && _id > cursor.delivery_id)
}

export function createMemoryReplayStore({ replays }: Pick<MemoryCollections, 'replays'>): ReplayStore {
  return {
    async begin(replay) {
      if (replays.has(replay._id)) return false
      replays.set(replay._id, structuredClone(replay))
      return true
    },
    async claim(nowMs, untilMs) {
      const [due] = [...replays.values()]
        .filter(one => one.state === 'running' && one.next_page_at.getTime() <= nowMs)
        .sort((a, b) => a.next_page_at.getTime() - b.next_page_at.getTime())
      if (due === undefined) return undefined
      due.next_page_at = new Date(untilMs)
      return structuredClone(due)
    },
    async advance(replay, { cursor, requeued, nextPageAtMs, finishedAtMs }) {
      const known = replays.get(replay._id)
      const stands = known?.state === 'running' && known.cursor?.delivery_id === replay.cursor?.delivery_id
      if (known === undefined || !stands) return
      known.cursor = structuredClone(cursor)
      known.requeued = requeued
      known.next_page_at = new Date(nextPageAtMs)
      if (finishedAtMs === null) return
      known.state = 'done'
      known.finished_at = new Date(finishedAtMs)
    },
  }
}

function isAbout(alert: Alert, about: ErasedAlerts, person: ErasedPerson | null): boolean {
  if ('connectionId' in about) return connectionsOf(alert).includes(about.connectionId)
  const { data } = alert
  if ('action' in data && about.actionIds.includes(data.action?.action_id ?? '')) return true
  return namesCustomer(alert, { ids: about.customerIds, person })
}

function connectionsOf({ data }: Alert): readonly string[] {
  if ('storm' in data) return [data.storm.connection_id]
  if ('incident' in data && data.incident.burst !== undefined) return [data.incident.connection_id ?? '']
  return 'action' in data ? (data.action?.connection_ids ?? []) : []
}
