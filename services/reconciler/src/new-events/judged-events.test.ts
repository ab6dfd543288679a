import type { InboundEvent } from '@backstop/contracts'
import type { Received } from '@backstop/kit/consume'
import { expect, test } from 'vitest'
import { JudgedEvents } from './judged-events.ts'

function eventAt(offset: bigint, event_id = 'evt_1', timestampMs = 1): Received<'inbound-event'> {
  const ids = { project_id: 'prj_1', connection_id: 'con_1', event_id, event_type: 'refund.created' }
  const message: InboundEvent = { provider: 'processor', ...ids, received_at: '2026-11-30T00:00:00.000Z', body: {} }
  const origin = {
    topic: 'inbound.processor',
    partition: 0,
    key: 'k',
    headers: {},
    timestampMs,
    receivedAtMs: 1,
  } as const
  return { name: 'inbound-event', message, offset, ...origin }
}

test('an event is known until it is taken', () => {
  const judged = new JudgedEvents()
  judged.add(eventAt(7n))
  expect([judged.take(eventAt(6n)), judged.take(eventAt(7n)), judged.take(eventAt(7n))]).toEqual([false, true, false])
})

test('another event at the offset of a judged one, after the broker lost that one, is not known', () => {
  const judged = new JudgedEvents()
  judged.add(eventAt(7n))
  expect(judged.take(eventAt(7n, 'evt_2'))).toBe(false)
  expect(judged.take(eventAt(7n, 'evt_1', 2))).toBe(false)
})

test('the oldest of very many events are forgotten', () => {
  const judged = new JudgedEvents()
  for (let offset = 0n; offset <= 100_000n; offset += 1n) judged.add(eventAt(offset))
  expect([judged.take(eventAt(0n)), judged.take(eventAt(1n)), judged.take(eventAt(100_000n))]).toEqual([
    false,
    true,
    true,
  ])
})
