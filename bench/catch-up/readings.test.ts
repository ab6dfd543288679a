import type { ReceivedDelivery } from '@backstop/simulator'
import { expect, test } from 'vitest'
import type { SentRefund } from '../../test/setup/installation/load.ts'
import { type CaughtUp, createCoverage, readCatchUp, unitsOf } from './readings.ts'

const END_MS = Date.parse('2026-11-23T12:00:00.000Z')

const refund = (id: string, isExplained: boolean, sentAfterMs: number): SentRefund => {
  const sentAtMs = END_MS + sentAfterMs
  const ids = { id, projectId: 'prj_1', connectionId: 'con_1' }
  return { ...ids, atMs: sentAtMs, isExplained, sentAtMs, acknowledgedAtMs: sentAtMs + 10 }
}
const verdict = (id: string, afterMs: number) =>
  [`re_${id}`, { seenAtMs: END_MS + afterMs, firstSeenAtMs: END_MS + afterMs - 5 }] as const
const delivery = (id: string, afterMs: number) => {
  const at = new Date(END_MS + afterMs - 50).toISOString()
  const action = { provider_ref: `re_${id}`, first_seen_at: at, second_look_at: at }
  const body = { event: 'incident.opened', data: { action, incident: { opened_at: at } } }
  return { receivedAtMs: END_MS + afterMs, body } as unknown as ReceivedDelivery
}

const backlog = [refund('a200', true, -9_000), refund('b200', true, -8_000), refund('c', false, -7_000)]
/** The last one is sent after everything is caught up, and is not measured. */
const fresh = (fromMs: number) => [
  refund('d200', true, fromMs + 1_000),
  refund('e', false, fromMs + 2_000),
  refund('f200', true, fromMs + 30_000),
]
const judged: CaughtUp = {
  outageMs: 240_000,
  endedAtMs: END_MS,
  judges: true,
  backlog,
  fresh: fresh(0),
  explained: new Map([
    verdict('a200', 3_000),
    verdict('b200', 20_000),
    verdict('d200', 21_010),
    verdict('f200', 90_000),
  ]),
  deliveries: [delivery('c', 76_000), delivery('e', 81_000)],
}

test('counts the time to the last verdict, and to the last alert without the minute, of the backlog', () => {
  expect(readCatchUp(judged)).toEqual({
    'events of the backlog': 3,
    'alerts of the backlog': 1,
    'first of the backlog': 3,
    'backlog judged': 20,
    'backlog alerted': 16,
    'catching up': 0.15,
    'for an hour of outage': 4.3,
    '200 to stored verdict, p50': 20_000,
    '200 to stored verdict, p99': 20_000,
    'post to alert, p50': 79_000,
    'post to alert, p99': 79_000,
    'decision to alert, p50': 50,
    'decision to alert, p99': 50,
  })
})

test('counts from the start of the notifier, and measures the new events whose minute ends then', () => {
  const run = {
    ...judged,
    judges: false,
    fresh: fresh(-60_000),
    deliveries: [delivery('c', 4_000), delivery('e', 5_000)],
  }
  const readings = readCatchUp(run)
  expect(readings).toMatchObject({
    'backlog alerted': 4,
    'catching up': 0.25,
    'first of the backlog': 4,
    'for an hour of outage': 4 / 60,
    'post to alert, p99': 63_000,
  })
  expect(Object.keys(readings)).toEqual(Object.keys(unitsOf(false)))
})

test.each([
  { name: 'a verdict', lost: { explained: new Map([verdict('a200', 3_000), verdict('d200', 1), verdict('f200', 1)]) } },
  { name: 'an alert', lost: { deliveries: [delivery('e', 81_000)] } },
])('throws if the backlog lacks $name', ({ lost }) => {
  expect(() => readCatchUp({ ...judged, ...lost })).toThrow('of the backlog has no verdict or alert')
})

test('a coverage is complete once the growing collection has every id', () => {
  const collection = new Set<string>(['b'])
  const isCovered = createCoverage(['a', 'b'], collection)
  expect(isCovered()).toBe(false)
  collection.add('a')
  expect(isCovered()).toBe(true)
})
