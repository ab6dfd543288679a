import type { ReceivedDelivery } from '@backstop/simulator'
import { expect, test } from 'vitest'
import type { SentRefund } from '../../test/setup/installation/load.ts'
import { readTimes } from './readings.ts'

const START_MS = Date.parse('2026-11-23T12:00:00.000Z')
const after = (ms: number) => new Date(START_MS + ms).toISOString()

/** A refund that is posted at the start and accepted ten milliseconds later. */
const refund = (id: string, isExplained: boolean): SentRefund => {
  const ids = { id, projectId: 'prj_1', connectionId: 'con_1' }
  return { ...ids, atMs: START_MS, isExplained, sentAtMs: START_MS, acknowledgedAtMs: START_MS + 10 }
}
const delivery = (ref: string) => {
  const action = { provider_ref: ref, first_seen_at: after(30), second_look_at: after(60_030) }
  const body = { event: 'incident.opened', data: { action, incident: { opened_at: after(60_070) } } }
  return { receivedAtMs: START_MS + 60_120, body } as unknown as ReceivedDelivery
}
const sent = [refund('a200', true), refund('b', false)]
const verdicts = new Map([['re_a200', { seenAtMs: START_MS + 75, firstSeenAtMs: START_MS + 25 }]])

test('divides the time to a verdict and the time to an alert into their parts', () => {
  const p99 = Object.entries(readTimes(sent, verdicts, [delivery('re_b')])).filter(([name]) => name.endsWith('p99'))
  expect(Object.fromEntries(p99)).toEqual({
    'post to 200, p99': 10,
    '200 to stored verdict, p99': 65,
    '200 to first record, p99': 15,
    'first record to stored verdict, p99': 50,
    'post to alert, p99': 60_120,
    'post to first record of an unexplained action, p99': 30,
    'due second look to decision, p99': 40,
    'decision to alert, p99': 50,
  })
})

test('counts verdicts of the sample only', () => {
  const late = new Map([...verdicts, ['re_a100', { seenAtMs: START_MS + 9_000, firstSeenAtMs: START_MS + 8_000 }]])
  const more = [...sent, refund('a100', true), refund('a101', true)]
  expect(readTimes(more, late, [delivery('re_b')])['200 to stored verdict, p99']).toBe(65)
})

test.each([
  { name: 'a verdict', explained: new Map(), deliveries: [delivery('re_b')] },
  { name: 'an alert', explained: verdicts, deliveries: [delivery('re_a200')] },
])('throws if $name is missing', ({ explained, deliveries }) => {
  expect(() => readTimes(sent, explained, deliveries)).toThrow('no answer, verdict or alert')
})
