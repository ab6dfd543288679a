import { describe, expect, test } from 'vitest'
import { identify } from './identify.ts'

const event = (event_type: unknown, data: unknown, event_id: unknown = 'evt_01k9a0m3v6n7q8r9s0t1u2v3w4') => ({
  event_id,
  event_type,
  occurred_at: '2025-11-20T10:15:30.123456Z',
  notification_id: 'ntf_01k9a0m4aaaabbbbccccddddee',
  data,
})

describe("the reseller's event", () => {
  test.each([
    {
      name: 'an adjustment, by its transaction',
      type: 'adjustment.created',
      data: { id: 'adj_1', transaction_id: 'txn_1', subscription_id: 'sub_1' },
      subject: 'txn_1',
    },
    {
      name: 'an adjustment without transaction, by its subscription',
      type: 'adjustment.updated',
      data: { id: 'adj_1', subscription_id: 'sub_1' },
      subject: 'sub_1',
    },
    {
      name: 'a subscription',
      type: 'subscription.canceled',
      data: { id: 'sub_1', transaction_id: 'txn_1' },
      subject: 'sub_1',
    },
    {
      name: 'a transaction',
      type: 'transaction.completed',
      data: { id: 'txn_1', subscription_id: 'sub_1' },
      subject: 'txn_1',
    },
    {
      name: 'an adjustment of neither, by itself',
      type: 'adjustment.created',
      data: { id: 'adj_1' },
      subject: 'adj_1',
    },
    { name: 'nothing that is paid', type: 'price.created', data: { id: 'pri_1' }, subject: null },
    { name: 'no object at all', type: 'adjustment.created', data: null, subject: null },
  ])('is about $name', ({ type, data, subject }) => {
    expect(identify(event(type, data))).toEqual({
      kind: 'identified',
      eventId: 'evt_01k9a0m3v6n7q8r9s0t1u2v3w4',
      eventType: type,
      subject,
    })
  })

  test.each([
    { name: 'no event_id', given: { event_type: 'x' }, reason: 'id_unusable' },
    { name: "the processor's names", given: { id: 'evt_1', type: 'x', object: 'event' }, reason: 'id_unusable' },
    { name: 'an id with a blank', given: event('x', {}, 'evt 1'), reason: 'id_unusable' },
    { name: 'no event_type', given: event(undefined, {}), reason: 'type_unusable' },
    { name: 'an object as type', given: event({}, {}), reason: 'type_unusable' },
  ])('is malformed with $name', ({ given, reason }) => {
    expect(identify(given)).toEqual({ kind: 'malformed', reason })
  })
})
