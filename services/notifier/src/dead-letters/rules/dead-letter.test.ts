import { frame, HEADERS } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'
import { type DeadLetterMessage, deadLetterDocument, decideDeadLetter, isInInbox } from './dead-letter.ts'

const PARKED_AT_MS = 1_000_000

const waitingFor = (attempt: number, dueAtMs: number): DeliveryProgress => ({
  state: 'retrying',
  reason: '',
  createdAtMs: 1,
  isRequeued: false,
  firstAttemptAtMs: null,
  ladderAttemptsAtMs: [],
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

describe('the stored form of a dead letter', () => {
  const letterOf = (value: Buffer | null, headers: Record<string, string>): DeadLetterMessage => ({
    partition: 1,
    offset: 4n,
    key: 'k',
    value,
    headers: { [HEADERS.originalTopic]: 'operations', [HEADERS.errorCode]: 'message_invalid', ...headers },
    timestampMs: 5,
  })
  const json = (value: object) => frame(77, JSON.stringify(value))

  test('names the kind, the project and the operation of a message whose schema is unknown', () => {
    const document = deadLetterDocument(letterOf(json({ project_id: 'prj_1', operation_id: 'op_1' }), {}))
    expect(document).toMatchObject({ kind: 'operation', project_id: 'prj_1', resource_id: 'op_1' })
  })

  test.each([null, Buffer.from('nonsense'), frame(77, '[1]'), frame(77, '{"project_id":7}')])(
    'has no project if the message cannot be read (%s)',
    value => {
      expect(deadLetterDocument(letterOf(value, {}))).toMatchObject({ project_id: null, resource_id: null })
    },
  )

  test('of an object of an answer has the id of its inbox entry', () => {
    const headers = { [HEADERS.originalTopic]: 'readbacks', [HEADERS.messageId]: 'dlt_object' }
    expect(deadLetterDocument(letterOf(json({ project_id: 'prj_1' }), headers))).toMatchObject({
      _id: 'dlt_object',
      kind: 'provider_object',
      topic: 'readbacks',
    })
  })

  test('is not needed for a notification, which the inbox has, unless the notification cannot be read', () => {
    const event = {
      ...{ provider: 'processor', project_id: 'prj_1', connection_id: 'con_1', event_id: 'evt_1' },
      ...{ event_type: 'refund.created', received_at: '2026-11-21T10:00:00.000Z', body: 'not an object' },
    }
    const headers = { [HEADERS.originalTopic]: 'inbound.processor' }
    expect(isInInbox(letterOf(json(event), headers))).toBe(true)
    const unreadable = letterOf(Buffer.from('nonsense'), headers)
    expect(isInInbox(unreadable)).toBe(false)
    expect(deadLetterDocument(unreadable).kind).toBe('notification')
  })
})
