/**
 * The daily totals equal a direct count of the listed actions and incidents, after random histories: late and repeated events, merges,
 * verdicts that change, incidents that are resolved, processes that are killed, and counts at any moment.
 */
import { bucketOf, type ConnectionDocument, type DailyTotalsDocument, type InboundEvent } from '@backstop/contracts'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { MINUTE, operation, PROJECT, RULES, SECOND, T0 } from '@backstop/verdict/test'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { countRound } from '../src/totals/totals-counter.ts'
import { CRASH_POINTS, type CrashPoint, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const HOUR = 60 * MINUTE
const REFUNDS = [0, 1, 2, 3]
const KILLED = 'killed'

function refundEvent(connectionId: string, index: number, type: string, more: object = {}): WorkItem {
  const id = `evt_${type}_${index}`
  const created = (T0 - index * 9 * HOUR) / 1000
  const object = { id: `re_${index}`, object: 'refund', amount: 100, currency: 'eur', created }
  const event: InboundEvent = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: connectionId,
    event_id: id,
    event_type: type,
    received_at: new Date(T0).toISOString(),
    body: {
      id,
      type,
      created: T0 / 1000,
      livemode: true,
      data: { object: { ...object, charge: 'ch_1', payment_intent: 'pi_1', status: 'succeeded', ...more } },
    },
  }
  return { kind: 'event', event, inboxId: `${connectionId}/${id}`, receivedAt: T0 }
}

/** Refunds of four days. Some name only the charge, so that cases get merged; some are seen through two connections; some fail later. */
const EVENTS = REFUNDS.flatMap(index => [
  refundEvent('con_a', index, 'refund.created', index === 1 ? { payment_intent: null } : {}),
  refundEvent('con_b', index, 'refund.updated', index === 2 ? { created: (T0 - 80 * HOUR) / 1000 } : {}),
  refundEvent('con_a', index, 'charge.refund.updated', index === 3 ? { status: 'failed' } : {}),
])
const OPERATIONS = REFUNDS.slice(0, 3).map((index): WorkItem => {
  const at = T0 - index * 9 * HOUR
  const named = index === 1 ? { provider_ref: 're_0' } : {}
  const times = { executing_at: new Date(at).toISOString(), ended_at: new Date(at + SECOND).toISOString() }
  return { kind: 'operation', operation: operation({ operation_id: `op_${index}`, amount: 100, ...times, ...named }) }
})

function openShop() {
  const stores = createMemoryStores()
  for (const _id of ['con_a', 'con_b']) {
    const settings = { kind: 'processor', out_of_band: 'alert', status: 'active', read_key: null }
    const connection = { _id, project_id: PROJECT, ...settings, created_at: new Date(T0 - 200 * HOUR) }
    stores.contents.connections.set(_id, connection as ConnectionDocument)
  }
  const due: WorkItem[] = []
  const publisher: OutboxPublisher = {
    async publish(outboxes) {
      for (const { documentId, entries } of outboxes) {
        for (const { topic, message } of entries) {
          if (topic === 'rechecks') due.push({ kind: 'recheck', recheck: message } as WorkItem)
        }
        await stores.cases.outbox.published([{ documentId, entryIds: entries.map(({ id }) => id) }])
      }
      return { stuck: 0 }
    },
  }
  let now = T0
  let killAt: CrashPoint | null = null
  const clock = { now: () => now, schedule: () => () => {} }
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher,
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: createFixedCodec(),
    clock,
    rules: RULES,
  }
  const killable = withCrashPoints(parts, point => {
    if (point === killAt) throw new Error(KILLED)
  })
  return {
    ...stores.contents,
    due,
    pass: (ms: number) => {
      now += ms
    },
    count: async () => {
      while ((await countRound({ totals: stores.totals, clock })) > 0);
    },
    /** @returns false if the batch crashed */
    async handle(items: readonly WorkItem[], point: CrashPoint | null): Promise<boolean> {
      killAt = point
      try {
        await reconcileBatch(items, killable)
        return true
      } catch (error) {
        if (!(error instanceof Error && error.message === KILLED)) throw error
        return false
      }
    },
  }
}
type Shop = ReturnType<typeof openShop>

/** Counts all listed actions in one pass, by other code than the one that is tested. */
function countDirectly({ actions, incidents }: Shop): Record<string, number> {
  const sums: Record<string, number> = {}
  const add = (key: string, amount = 1) => {
    sums[key] = (sums[key] ?? 0) + amount
  }
  for (const action of actions.values()) {
    if (action.merged_into !== undefined) continue
    const day = `${action.connection_id}/${action.provider_created_at.slice(0, 10)}`
    const { verdict, reason, kind, currency, state, amount } = action
    add(`${day} ${verdict} ${reason} ${kind} ${currency} ${state} count`)
    add(`${day} ${verdict} ${reason} ${kind} ${currency} ${state} amount`, amount ?? 0)
    const judged = action.timeline.find(({ what }) => what === 'explained' || what === 'second_look')
    if (judged !== undefined) {
      add(`${day} verdict ${bucketOf(Date.parse(judged.at) - Date.parse(action.first_seen_at))}`)
    }
  }
  for (const { connection_id, opened_at, resolved_at } of incidents.values()) {
    const day = `${connection_id}/${opened_at.slice(0, 10)}`
    if (resolved_at !== null) add(`${day} resolution ${bucketOf(Date.parse(resolved_at) - Date.parse(opened_at))}`)
  }
  return sums
}

function storedCounts(days: Iterable<Pick<DailyTotalsDocument, '_id' | 'totals' | 'times'>>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { _id, totals, times } of days) {
    for (const { verdict, reason, kind, currency, state, count, amount } of totals) {
      sums[`${_id} ${verdict} ${reason} ${kind} ${currency} ${state} count`] = count
      sums[`${_id} ${verdict} ${reason} ${kind} ${currency} ${state} amount`] = amount
    }
    for (const [what, buckets] of Object.entries(times)) {
      for (const [lowerMs, count] of buckets) sums[`${_id} ${what} ${lowerMs}`] = count
    }
  }
  return sums
}

/** The counts of all connections together. */
function sumOfConnections(counts: Record<string, number>): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const [key, count] of Object.entries(counts)) {
    const ofProject = key.replace(/^con_[ab]/, PROJECT)
    sums[ofProject] = (sums[ofProject] ?? 0) + count
  }
  return sums
}

const steps = fc.array(
  fc.record({
    queue: fc.nat(2),
    size: fc.integer({ min: 1, max: 3 }),
    point: fc.option(fc.constantFrom(...CRASH_POINTS), { nil: null }),
    isCounted: fc.boolean(),
  }),
  { maxLength: 40 },
)

test('the daily totals of connections and of their project equal a direct count, whatever happened in whichever order', async () => {
  let moved = 0
  const property = fc.asyncProperty(steps, fc.shuffledSubarray(EVENTS, { minLength: 8 }), async (plan, events) => {
    const shop = openShop()
    // Queues are read in order. A failed batch is read again from its beginning.
    const queues: WorkItem[][] = [[...events], [...OPERATIONS], shop.due]
    for (const { queue: which, size, point, isCounted } of plan) {
      const queue = queues[which] ?? []
      shop.pass(which === 2 ? MINUTE : SECOND)
      if (await shop.handle(queue.slice(0, size), point)) queue.splice(0, size)
      if (isCounted) await shop.count()
    }
    for (const queue of queues) {
      shop.pass(2 * MINUTE)
      while (queue.length > 0) await shop.handle(queue.splice(0, 2), null)
    }
    shop.pass(HOUR)
    await shop.count()
    const direct = countDirectly(shop)
    expect(storedCounts(shop.dailyTotals.values())).toEqual(direct)
    expect(storedCounts(shop.projectTotals.values())).toEqual(sumOfConnections(direct))
    expect([...shop.dailyTotals.values()].filter(({ count_at }) => count_at !== undefined)).toEqual([])
    moved += [...shop.dailyTotals.values()].filter(({ totals }) => totals.length === 0).length
  })
  await fc.assert(property, { numRuns: 200 })
  // In some histories an action moved to another day, and left a day without actions.
  expect(moved).toBeGreaterThan(0)
})
