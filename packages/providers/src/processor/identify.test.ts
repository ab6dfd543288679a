import { describe, expect, test } from 'vitest'
import { identify } from './identify.ts'

const event = (object: unknown, rest: Record<string, unknown> = {}) => ({
  id: 'evt_1',
  object: 'event',
  type: 'refund.created',
  data: { object },
  ...rest,
})
const subjectOf = (object: unknown) => {
  const found = identify(event(object))
  return found.kind === 'identified' ? found.subject : found
}

describe("the processor's event", () => {
  test('is known by its id and type', () => {
    expect(identify(event({ id: 're_3Q', object: 'refund', charge: 'ch_3P', payment_intent: 'pi_3P' }))).toEqual({
      kind: 'identified',
      eventId: 'evt_1',
      eventType: 'refund.created',
      subject: 'pi_3P',
    })
  })

  test.each([
    {
      name: 'a refund, by its payment intent',
      object: { id: 're_1', object: 'refund', charge: 'ch_1', payment_intent: 'pi_1' },
      subject: 'pi_1',
    },
    {
      name: 'a refund without intent, by its charge',
      object: { id: 're_1', object: 'refund', charge: 'ch_1', payment_intent: null },
      subject: 'ch_1',
    },
    {
      name: 'a refund with both expanded',
      object: { id: 're_1', object: 'refund', charge: { id: 'ch_1' }, payment_intent: { id: 'pi_1' } },
      subject: 'pi_1',
    },
    {
      name: 'a refund of neither, by itself',
      object: { id: 're_1', object: 'refund', charge: null, payment_intent: null },
      subject: 're_1',
    },
    {
      name: 'a charge, by its payment intent',
      object: { id: 'ch_1', object: 'charge', payment_intent: 'pi_1' },
      subject: 'pi_1',
    },
    {
      name: 'a charge without intent, by itself',
      object: { id: 'ch_1', object: 'charge', payment_intent: null },
      subject: 'ch_1',
    },
    {
      name: 'a payment intent',
      object: { id: 'pi_1', object: 'payment_intent', latest_charge: 'ch_1' },
      subject: 'pi_1',
    },
    {
      name: 'a subscription',
      object: { id: 'sub_1', object: 'subscription', latest_invoice: 'in_1' },
      subject: 'sub_1',
    },
    {
      name: 'an invoice, by its subscription',
      object: { id: 'in_1', object: 'invoice', subscription: 'sub_1' },
      subject: 'sub_1',
    },
    { name: 'an object of another kind', object: { id: 'cus_1', object: 'customer' }, subject: null },
    {
      name: 'an id that is no id',
      object: { id: 're_\ud800', object: 'refund', payment_intent: 'pi 1\n', charge: 7 },
      subject: null,
    },
    { name: 'no object', object: null, subject: null },
  ])('is about $name', ({ object, subject }) => {
    expect(subjectOf(object)).toBe(subject)
  })

  test.each([
    { name: 'a thin event without id', given: { object: 'v2.core.event', type: 'v1.x' }, reason: 'id_unusable' },
    { name: 'a thin event without type', given: { object: 'v2.core.event', id: 'evt_1' }, reason: 'type_unusable' },
    { name: 'another object', given: event({}, { object: 'refund' }), reason: 'not_an_event' },
    { name: 'no object field', given: { id: 'evt_1', type: 'x' }, reason: 'not_an_event' },
    { name: 'an empty object', given: {}, reason: 'not_an_event' },
    { name: 'no id', given: event({}, { id: undefined }), reason: 'id_unusable' },
    { name: 'a number as id', given: event({}, { id: 1 }), reason: 'id_unusable' },
    { name: 'an empty id', given: event({}, { id: '' }), reason: 'id_unusable' },
    { name: 'an id that would break a header', given: event({}, { id: 'evt_1\r\nx: y' }), reason: 'id_unusable' },
    { name: 'an id outside ASCII', given: event({}, { id: 'evt_é' }), reason: 'id_unusable' },
    { name: 'an id of 256 characters', given: event({}, { id: 'e'.repeat(256) }), reason: 'id_unusable' },
    { name: 'no type', given: event({}, { type: null }), reason: 'type_unusable' },
    { name: 'a list as type', given: event({}, { type: ['refund.created'] }), reason: 'type_unusable' },
  ])('is malformed with $name', ({ given, reason }) => {
    expect(identify(given)).toEqual({ kind: 'malformed', reason })
  })

  test.each([
    { type: 'refund', subject: 'x_1' },
    { type: 'charge', subject: 'x_1' },
    { type: 'subscription', subject: 'x_1' },
    { type: 'v2.core.event_destination', subject: null },
  ])('that is thin is about its related $type: $subject', ({ type, subject }) => {
    const given = { id: 'evt_65', object: 'v2.core.event', type: 'v1.any', related_object: { id: 'x_1', type } }
    expect(identify(given)).toEqual({ kind: 'identified', eventId: 'evt_65', eventType: 'v1.any', subject })
  })

  test('does not take a field from a prototype that the body names', () => {
    expect(identify(JSON.parse('{"__proto__":{"id":"evt_1","object":"event","type":"x"}}'))).toMatchObject({
      kind: 'malformed',
    })
  })
})
