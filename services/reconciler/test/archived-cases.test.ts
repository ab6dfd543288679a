/** Late events about a payment whose refund was archived: no false alert, and every count as before. */
import {
  type ActionDocument,
  type Alert,
  type ConnectionDocument,
  type InboundEvent,
  MIN_ARCHIVE_DAYS,
} from '@backstop/contracts'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { dayOf } from '@backstop/verdict'
import { MINUTE, operation, PROJECT, RULES, SECOND, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import { createMongoProjections } from '../src/batch/projection-store.ts'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createMongoTotals } from '../src/totals/mongo-totals.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const DAY = 24 * 60 * MINUTE
const REFUND = { id: 're_1', object: 'refund', amount: 100, currency: 'eur', created: T0 / 1000, status: 'succeeded' }
const CHARGE = { id: 'ch_1', object: 'charge', amount: 1_000, currency: 'eur', created: T0 / 1000 - 60, captured: true }
const PAYMENT = { charge: 'ch_1', payment_intent: 'pi_1' }

function eventAt(now: number, id: string, type: string, object: object, before?: object, madeAt = now): WorkItem {
  const data = { object, ...(before === undefined ? {} : { previous_attributes: before }) }
  const event: InboundEvent = {
    ...{ provider: 'processor', project_id: PROJECT, connection_id: 'con_a', event_id: id, event_type: type },
    received_at: new Date(now).toISOString(),
    body: { id, type, created: Math.floor(madeAt / 1000), livemode: true, data },
  }
  return { kind: 'event', event, inboxId: `con_a/${id}`, receivedAt: now }
}

const TOTAL = { ...CHARGE, payment_intent: 'pi_1', amount_refunded: 100, refunded: false }

/** A shop with one explained refund, which was archived after its time. @param isNamed false if only the total of its charge shows it */
async function openShop({ isNamed = true } = {}) {
  let now = T0
  const memory = createMemoryStores()
  const { mongo } = memory
  const stores = { ...memory, projections: createMongoProjections(mongo), totals: createMongoTotals(mongo) }
  const settings = { kind: 'processor', out_of_band: 'alert', status: 'active', read_key: null }
  const connection = { _id: 'con_a', project_id: PROJECT, ...settings, created_at: new Date(T0 - 9 * DAY) }
  stores.contents.connections.set('con_a', connection as ConnectionDocument)
  const alerts: Alert[] = []
  let due: WorkItem[] = []
  const publisher: OutboxPublisher = {
    async publish(outboxes) {
      for (const { documentId, entries } of outboxes) {
        for (const { topic, message } of entries) {
          if (topic === 'rechecks') due.push({ kind: 'recheck', recheck: message } as WorkItem)
          if (topic === 'alerts') alerts.push(message as Alert)
        }
        await stores.cases.outbox.published([{ documentId, entryIds: entries.map(({ id }) => id) }])
      }
      return { stuck: 0 }
    },
  }
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher,
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: createFixedCodec(),
    clock: { now: () => now, schedule: () => () => {} },
    rules: RULES,
  }
  const actions = mongo.db.collection<ActionDocument>('actions')
  const shop = {
    alerts,
    now: () => now,
    /** Decides the items, and the second looks that follow. */
    async handle(...items: WorkItem[]) {
      for (const item of items) await reconcileBatch([item], parts)
      now += 2 * MINUTE
      while (due.length > 0) {
        const looks = due
        due = []
        await reconcileBatch(looks, parts)
      }
    },
    async archive() {
      const found = await actions.find().toArray()
      const versions = found.map(({ _id, version }) => ({ action_id: _id, version }))
      return stores.archivedActions.archive(PROJECT, versions, now)
    },
    listed: () => actions.find().sort({ provider_ref: 1 }).toArray(),
    counted: async (at = T0) => {
      const { totals } = await stores.totals.count({ connectionId: 'con_a', day: dayOf(at) })
      return totals.map(({ verdict, state, count, amount }) => ({ verdict, state, count, amount }))
    },
    async waitUntilOld() {
      now += (MIN_ARCHIVE_DAYS + 1) * DAY
    },
  }
  const times = { executing_at: new Date(T0 - SECOND).toISOString(), ended_at: new Date(T0).toISOString() }
  const reported = operation({ operation_id: 'op_1', amount: 100, provider_ref: 're_1', ...times })
  const event = isNamed
    ? eventAt(T0, 'evt_1', 'refund.created', { ...REFUND, ...PAYMENT })
    : eventAt(T0, 'evt_1', 'charge.refunded', TOTAL, { amount_refunded: 0 })
  await shop.handle(event, { kind: 'operation', operation: reported })
  return shop
}

describe('an archived refund', () => {
  let shop: Awaited<ReturnType<typeof openShop>>
  const counted = [{ verdict: 'explained', state: 'succeeded', count: 1, amount: 100 }]
  beforeEach(async () => {
    shop = await openShop()
    await shop.waitUntilOld()
    expect(await shop.archive()).toEqual({ moved: 1, days: [{ connectionId: 'con_a', day: dayOf(T0) }] })
  })

  test('is listed no longer, and counted as before', async () => {
    expect(await shop.listed()).toEqual([])
    expect(await shop.counted()).toEqual(counted)
  })

  test.each([
    { what: 'its event again', type: 'refund.created', object: { ...REFUND, ...PAYMENT } },
    { what: 'its event again, by the charge', type: 'refund.updated', object: { ...REFUND, ...PAYMENT } },
    {
      what: 'the total of its charge',
      type: 'charge.refunded',
      object: TOTAL,
      before: { amount_refunded: 0 },
    },
  ])('causes no alert and is counted once after $what', async ({ type, object, before }) => {
    await shop.handle(eventAt(shop.now(), 'evt_late', type, object, before, T0))
    expect(shop.alerts).toEqual([])
    expect(await shop.counted()).toEqual(counted)
    expect(await shop.listed()).toEqual([])
  })

  test('stays archived when a second refund of the payment, which nothing explains, alerts', async () => {
    const at = shop.now()
    const second = { ...REFUND, ...PAYMENT, id: 're_2', amount: 50, created: Math.floor(at / 1000) }
    await shop.handle(eventAt(at, 'evt_2', 'refund.created', second))
    expect((await shop.listed()).map(({ provider_ref }) => provider_ref)).toEqual(['re_2'])
    // The charge shows both refunds, with details that the archived one did not have.
    const total = { ...CHARGE, payment_intent: 'pi_1', amount_refunded: 150, refunded: false }
    await shop.handle(eventAt(at, 'evt_3', 'charge.refunded', total, { amount_refunded: 100 }))
    expect((await shop.listed()).map(({ provider_ref }) => provider_ref)).toEqual(['re_2'])
    expect(shop.alerts.map(({ event }) => event)).toEqual(['incident.opened'])
    expect(await shop.counted()).toEqual(counted)
    expect(await shop.counted(at)).toEqual([{ verdict: 'unexplained', state: 'succeeded', count: 1, amount: 50 }])
  })

  test('is listed again when it fails, counts once, and can be archived again', async () => {
    const failed = { ...REFUND, ...PAYMENT, status: 'failed' }
    await shop.handle(eventAt(shop.now(), 'evt_late', 'refund.failed', failed))
    expect((await shop.listed()).map(({ state }) => state)).toEqual(['failed'])
    const countedAsFailed = [{ verdict: 'explained', state: 'failed', count: 1, amount: 100 }]
    expect(await shop.counted()).toEqual(countedAsFailed)
    await shop.archive()
    expect(await shop.listed()).toEqual([])
    expect(await shop.counted()).toEqual(countedAsFailed)
  })
})

test('an archived refund that only a total showed is listed again when its refund is named, and counts once', async () => {
  const shop = await openShop({ isNamed: false })
  await shop.waitUntilOld()
  const counted = await shop.counted()
  expect(counted).toMatchObject([{ verdict: 'explained', count: 1, amount: 100 }])
  expect(await shop.archive()).toMatchObject({ moved: 1 })
  await shop.handle(eventAt(shop.now(), 'evt_late', 'refund.created', { ...REFUND, ...PAYMENT }, undefined, T0))
  expect((await shop.listed()).map(({ provider_ref, merged_into }) => [provider_ref, merged_into])).toEqual([
    ['re_1', undefined],
  ])
  expect(shop.alerts).toEqual([])
  expect(await shop.counted()).toEqual(counted)
})

test('an action that changed since it was exported, or is not old enough, stays listed', async () => {
  const shop = await openShop()
  expect(await shop.archive()).toEqual({ moved: 0, days: [] })
  expect(await shop.listed()).toHaveLength(1)
})
