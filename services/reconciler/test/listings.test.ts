/**
 * The listed actions equal those of the cases, even if a process is killed between saving and listing, and other
 * batches come before the repeat.
 */

import type { ConnectionDocument, InboundEvent } from '@backstop/contracts'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { projectActions, projectIncidents } from '@backstop/verdict'
import { MINUTE, operation, PROJECT, RULES, SECOND, T0 } from '@backstop/verdict/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { type CrashPoint, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const REFUNDS = [0, 1, 2, 3]

function refundEvent(index: number, type: string, more: object = {}): WorkItem {
  const id = `evt_${type}_${index}`
  const object = { id: `re_${index}`, object: 'refund', amount: 100, currency: 'eur', created: T0 / 1000 + index * 30 }
  const event: InboundEvent = {
    provider: 'processor',
    project_id: PROJECT,
    connection_id: 'con_a',
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
  return { kind: 'event', event, inboxId: `con_a/${id}`, receivedAt: T0 }
}

/** Two events for each refund. One of them names only the charge, so that cases get merged. */
const EVENTS = REFUNDS.flatMap(index => [
  refundEvent(index, 'refund.created', index === 1 ? { payment_intent: null } : {}),
  refundEvent(index, 'refund.updated'),
])

/** Equal amounts, so that a later operation can take the place of another one. */
const OPERATIONS = REFUNDS.slice(0, 3).map((index): WorkItem => {
  const at = T0 + index * 30 * SECOND + (index === 2 ? 10 * SECOND : 0)
  const named = index === 1 ? { provider_ref: 're_0' } : {}
  const times = { executing_at: new Date(at).toISOString(), ended_at: new Date(at + SECOND).toISOString() }
  return { kind: 'operation', operation: operation({ operation_id: `op_${index}`, amount: 100, ...times, ...named }) }
})

const KILLED = 'killed'
const POINTS: readonly (CrashPoint | null)[] = ['after the save', 'after the projections', null]

function openShop() {
  const stores = createMemoryStores()
  const settings = { kind: 'processor', out_of_band: 'alert', status: 'active', read_key: null }
  const connection = { _id: 'con_a', project_id: PROJECT, ...settings, created_at: new Date(T0 - MINUTE) }
  stores.contents.connections.set('con_a', connection as ConnectionDocument)
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
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher,
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: createFixedCodec(),
    clock: { now: () => now, schedule: () => () => {} },
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

const steps = fc.array(
  fc.record({ queue: fc.nat(2), size: fc.integer({ min: 1, max: 3 }), point: fc.constantFrom(...POINTS) }),
  { maxLength: 40 },
)

describe('the list of actions', () => {
  test('equals the actions of the cases in the end', async () => {
    const property = fc.asyncProperty(steps, fc.shuffledSubarray(EVENTS, { minLength: 8 }), async (plan, events) => {
      const shop = openShop()
      // Queues are read in order. A failed batch is read again from its beginning.
      const queues: WorkItem[][] = [[...events], [...OPERATIONS], shop.due]
      for (const { queue: which, size, point } of plan) {
        const queue = queues[which] ?? []
        shop.pass(which === 2 ? MINUTE : SECOND)
        if (await shop.handle(queue.slice(0, size), point)) queue.splice(0, size)
      }
      for (const queue of queues) {
        shop.pass(2 * MINUTE)
        while (queue.length > 0) await shop.handle(queue.splice(0, 2), null)
      }
      for (const theCase of shop.cases.values()) {
        for (const { action, mergedInto } of projectActions(theCase)) {
          const { why, ...listed } = shop.actions.get(action.action_id) ?? {}
          const { why: whyNow, ...expected } = action
          expect(listed).toEqual(mergedInto === null ? expected : { ...expected, merged_into: mergedInto })
          if (action.verdict !== 'explained') expect(why).toEqual(whyNow)
        }
        for (const { incident } of projectIncidents(theCase)) {
          expect(shop.incidents.get(incident.incident_id)).toEqual(incident)
        }
      }
      expect(shop.actions.size).toBe(REFUNDS.length)
    })
    await fc.assert(property, { numRuns: 150 })
  })

  test('is not written again if another record of the case changed', async () => {
    const shop = openShop()
    await shop.handle([refundEvent(0, 'refund.created')], null)
    const [first] = [...shop.actions.values()]
    await shop.handle([refundEvent(2, 'refund.created')], null)
    expect([...shop.actions.values()].map(({ version }) => version)).toEqual([1, 2])
    expect(shop.actions.get(first?.action_id ?? '')).toBe(first)
  })
})
