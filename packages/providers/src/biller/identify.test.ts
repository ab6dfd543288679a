import { describe, expect, test } from 'vitest'
import { identify } from './identify.ts'

const event = (content: unknown, rest: Record<string, unknown> = {}) => ({
  id: 'ev_16Ab',
  object: 'event',
  event_type: 'payment_refunded',
  content,
  ...rest,
})

describe("the subscription provider's event", () => {
  test.each([
    {
      name: 'a subscription',
      content: { subscription: { id: 'sub-77' }, invoice: { id: 'INV-88' } },
      subject: 'sub-77',
    },
    {
      name: 'a credit note, by its subscription',
      content: { credit_note: { id: 'CN-1', subscription_id: 'sub-77', reference_invoice_id: 'INV-88' } },
      subject: 'sub-77',
    },
    {
      name: 'a refund, by its subscription',
      content: { transaction: { id: 'txn_2', subscription_id: 'sub-77', refunded_txn_id: 'txn_1' } },
      subject: 'sub-77',
    },
    {
      name: 'a sale without subscription, by its invoice',
      content: { transaction: { id: 'txn_2', refunded_txn_id: 'txn_1' }, invoice: { id: 'INV-88' } },
      subject: 'INV-88',
    },
    {
      name: 'a credit note of such a sale, by the same invoice',
      content: { credit_note: { id: 'CN-1', reference_invoice_id: 'INV-88' } },
      subject: 'INV-88',
    },
    {
      name: 'a refund alone, by the payment it returns',
      content: { transaction: { id: 'txn_2', refunded_txn_id: 'txn_1' } },
      subject: 'txn_1',
    },
    {
      name: 'a refund that was only recorded, by the payment it returns',
      content: { transaction: { id: 'txn_2', reference_transaction_id: 'txn_1' } },
      subject: 'txn_1',
    },
    {
      name: 'a refund without other ids, by its own id',
      content: { transaction: { id: 'txn_2' } },
      subject: 'txn_2',
    },
    {
      name: 'a credit note without other ids, by its own id',
      content: { credit_note: { id: 'CN-1' } },
      subject: 'CN-1',
    },
    {
      name: 'a subscription whose id a merchant chose',
      content: { subscription: { id: 'Söhne & Co KG/1' } },
      subject: 'Söhne & Co KG/1',
    },
    { name: 'a customer', content: { customer: { id: 'cus-9' } }, subject: null },
    { name: 'nothing', content: undefined, subject: null },
  ])('is about $name', ({ content, subject }) => {
    expect(identify(event(content))).toEqual({
      kind: 'identified',
      eventId: 'ev_16Ab',
      eventType: 'payment_refunded',
      subject,
    })
  })

  test.each([
    { name: 'no id', given: event({}, { id: undefined }), reason: 'id_unusable' },
    { name: 'a false id', given: event({}, { id: '' }), reason: 'id_unusable' },
    { name: 'no event_type', given: event({}, { event_type: undefined }), reason: 'type_unusable' },
    { name: 'a number as type', given: event({}, { event_type: 1 }), reason: 'type_unusable' },
  ])('is malformed with $name', ({ given, reason }) => {
    expect(identify(given)).toEqual({ kind: 'malformed', reason })
  })
})
