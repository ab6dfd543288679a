import { expect, test } from 'vitest'
import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'
import { decideIntake } from './decide-intake.ts'

const next = (attempt: number) => ({ attempt, dueAtMs: 5, topic: 'deliveries.retry.5s' })
const progress = (facts: Partial<DeliveryProgress>): DeliveryProgress => ({
  state: 'retrying',
  reason: '',
  createdAtMs: 1,
  isRequeued: false,
  firstAttemptAtMs: 1,
  ladderAttemptsAtMs: [],
  lastAttempt: 1,
  lastAttemptAtMs: 1,
  next: next(2),
  goesAlone: false,
  digestGroup: null,
  ...facts,
})

interface Row {
  name: string
  attempt: number
  dueAtMs?: number
  known: DeliveryProgress
  kind: string
}

test.each<Row>([
  { name: 'the attempt that is next', attempt: 2, known: progress({}), kind: 'attempt' },
  {
    name: 'the first attempt of a delivery that is on record only',
    attempt: 1,
    known: progress({ state: 'pending', next: next(1), lastAttempt: 0, firstAttemptAtMs: null }),
    kind: 'attempt',
  },
  {
    name: 'the attempt that was recorded last: its retry may never have been produced',
    attempt: 1,
    known: progress({}),
    kind: 'produce_retry_again',
  },
  { name: 'an older attempt', attempt: 1, known: progress({ next: next(4), lastAttempt: 3 }), kind: 'skip' },
  { name: 'a delivered one', attempt: 1, known: progress({ state: 'delivered', next: null }), kind: 'skip' },
  {
    name: 'the last attempt of a dead one: its dead letter may never have been produced',
    attempt: 3,
    known: progress({ state: 'dead', next: null, lastAttempt: 3 }),
    kind: 'dead_letter_again',
  },
  {
    name: 'one that died without this attempt, as its channel was gone',
    attempt: 3,
    known: progress({ state: 'dead', next: null, lastAttempt: 2 }),
    kind: 'dead_letter_again',
  },
  {
    name: 'an older attempt of a dead one',
    attempt: 2,
    known: progress({ state: 'dead', next: null, lastAttempt: 3 }),
    kind: 'skip',
  },
  {
    name: 'one that a later message tells as well',
    attempt: 2,
    known: progress({ state: 'superseded', next: null }),
    kind: 'skip',
  },
  {
    name: 'an attempt that a person had made an hour before its time',
    attempt: 1,
    dueAtMs: 3_600_000,
    known: progress({}),
    kind: 'skip',
  },
  {
    name: 'an attempt that was made in its time, by clocks that differ',
    attempt: 1,
    dueAtMs: 60_000,
    known: progress({}),
    kind: 'produce_retry_again',
  },
  {
    name: 'the attempt that is next, on its delay line',
    attempt: 2,
    dueAtMs: 3_600_000,
    known: progress({}),
    kind: 'attempt',
  },
])('a message for $name: $kind', ({ attempt, dueAtMs, known, kind }) => {
  expect(decideIntake(attempt, dueAtMs ?? null, known).kind).toBe(kind)
})

test('a message from beyond the document is attempted under the number that the document waits for', () => {
  expect(decideIntake(4, null, progress({}))).toMatchObject({ kind: 'attempt', attempt: 2 })
})
