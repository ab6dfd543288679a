/** A payment that can take no more, through the whole reconciler in memory: what is too much is parked, and the rest goes on. */
import { HEADERS, type InboundEvent } from '@backstop/contracts'
import { createFixedCodec, createLogger, createMemoryBus, createMetrics } from '@backstop/kit'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger'
import { expect, test } from 'vitest'
import { createReconciler } from '../src/app.ts'
import { MAX_RECORDS, whyFull } from '../src/domain/forget.ts'
import type { Subject } from '../src/domain/subject.ts'
import { createMemoryStores } from '../src/store/memory-store.ts'
import { MINUTE, onlyAction, PROJECT, play, refundSeen, T0 } from './fixtures.ts'
import { readingPorts } from './reading-ports.ts'
import { connectionOf } from './recorded-shop.ts'

const codec = createFixedCodec()

/** A payment of which nothing explains more refunds than it can hold; the first of them is re_1. */
function fullSubject(): Subject {
  const seen = play([{ at: T0, input: refundSeen() }])
  const one = onlyAction(seen)
  const story = Array.from({ length: 60 }, () => ({ ...one.timeline[0]!, text: 'The provider reported it once more' }))
  const told = {
    ...one,
    verdict: 'unexplained' as const,
    look: { dueAt: T0, askedAt: null, doneAt: T0 },
    timeline: story,
  }
  const others = Array.from({ length: MAX_RECORDS - 1 }, (_, index) => ({
    ...told,
    id: `act_${index}`,
    identity: `refund/${index}`,
    sides: one.sides.map(side => ({ ...side, identity: `refund/${index}`, providerRef: `re_old_${index}` })),
  }))
  return { ...seen, outbox: [], actions: [told, ...others] }
}

test('a refund too many is parked with the reason, those that are known go on, and so do other payments', async () => {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const stores = createMemoryStores()
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  const full = fullSubject()
  stores.contents.subjects.set(full.id, full)
  const logger = createLogger('test', 'silent')
  const app = createReconciler({
    ...{ bus, codec, clock, stores, logger },
    openBooks: openMemoryBooks,
    metrics: createMetrics('reconciler'),
    recheckDelayMs: MINUTE,
    ...readingPorts(logger),
    onFatal: error => {
      throw error
    },
  })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  await app.start()
  const refund = (id: string, payment: string, status = 'succeeded'): InboundEvent => {
    const object = { id, object: 'refund', amount: 100, currency: 'eur', charge: null, payment_intent: payment }
    const event_id = `evt_${id}_${status}`
    const body = {
      ...{ id: event_id, type: 'refund.updated', created: T0 / 1000, livemode: true },
      data: { object: { ...object, created: T0 / 1000, status } },
    }
    const received_at = new Date(clock.now()).toISOString()
    const from = { provider: 'processor', project_id: PROJECT, connection_id: 'con_a' } as const
    return { ...from, event_id, event_type: 'refund.updated', received_at, body }
  }
  const tooMany = Array.from({ length: 12 }, (_, index) => refund(`re_new_${index}`, 'pi_1'))
  const events = [...tooMany, refund('re_other', 'pi_2'), refund('re_1', 'pi_1', 'failed')]
  await producer.send(
    events.map(event => ({
      topic: 'inbound.processor',
      key: `${PROJECT}/pi`,
      value: codec.encode('inbound-event', event),
      headers: {},
    })),
  )
  await clock.advance(10 * MINUTE)
  await app.stop()

  const dead = bus.stored('inbound.dead')
  expect(dead.map(({ headers }) => headers[HEADERS.errorCode])).toEqual(Array(12).fill('message_invalid'))
  expect(String(dead[0]?.headers[HEADERS.errorMessage])).toContain('pi_1 has more refunds')
  expect(stores.contents.inbox.get('con_a/evt_re_other_succeeded')?.document.outcome).toBe('recorded')
  const { actions = [] } = stores.contents.subjects.get(full.id) ?? {}
  expect(actions).toHaveLength(MAX_RECORDS)
  expect(actions[0]).toMatchObject({ providerRef: 're_1', state: 'failed' })
})

test('a payment of so many records of the usual size is not full', () => {
  const full = fullSubject()
  const actions = Array.from({ length: 3 }, () => full.actions).flat()
  expect(whyFull({ ...full, actions: actions.map(action => ({ ...action, timeline: [] })) })).toBeNull()
})
