import { expect, test } from 'vitest'
import type { DeliveryProgress } from '../../store/delivery-store.ts'
import { decideDeadLetter } from './dead-letter.ts'

const PARKED_AT_MS = 1_000_000

const waitingFor = (attempt: number, dueAtMs: number): DeliveryProgress => ({
  state: 'retrying',
  reason: '',
  firstAttemptAtMs: null,
  ladderFromAttempt: 1,
  lastAttempt: attempt - 1,
  lastAttemptAtMs: null,
  next: { attempt, dueAtMs, topic: 'deliveries' },
  goesAlone: false,
  digestGroup: null,
})

const ROWS: { name: string; attempt: number; progress: DeliveryProgress | undefined; kind: string; reason: string }[] =
  [
    { name: 'of no delivery', attempt: 0, progress: undefined, kind: 'keep', reason: 'no_delivery_on_record' },
    {
      name: 'of a delivery that ended',
      attempt: 2,
      progress: { ...waitingFor(2, 0), state: 'dead', next: null },
      kind: 'discard',
      reason: 'its_delivery_ended',
    },
    {
      name: 'of the attempt that its delivery waits for',
      attempt: 2,
      progress: waitingFor(2, PARKED_AT_MS - 5_000),
      kind: 'end_delivery',
      reason: 'message_unusable',
    },
    {
      name: 'of that attempt, parked by one whose clock is a little behind',
      attempt: 2,
      progress: waitingFor(2, PARKED_AT_MS + 100),
      kind: 'end_delivery',
      reason: 'message_unusable',
    },
    {
      name: 'of a later attempt than a restored backup knows',
      attempt: 5,
      progress: waitingFor(2, PARKED_AT_MS - 5_000),
      kind: 'end_delivery',
      reason: 'message_unusable',
    },
    {
      name: 'of an attempt that is over',
      attempt: 1,
      progress: waitingFor(2, PARKED_AT_MS - 5_000),
      kind: 'keep',
      reason: 'its_delivery_goes_on',
    },
    {
      name: 'from before a person asked for the attempt',
      attempt: 2,
      progress: waitingFor(2, PARKED_AT_MS + 60_000),
      kind: 'keep',
      reason: 'its_delivery_goes_on',
    },
  ]

test.each(ROWS)('a letter $name', ({ attempt, progress, kind, reason }) => {
  expect(decideDeadLetter({ attempt, deadLetteredAtMs: PARKED_AT_MS }, progress)).toMatchObject({ kind, reason })
})
