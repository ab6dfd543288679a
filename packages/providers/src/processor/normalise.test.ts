import { describe, expect, test } from 'vitest'
import { PROCESSOR_OBJECTS } from '../../test/samples/processor.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'

const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_1' }

const refund = {
  id: 're_3Q',
  object: 'refund',
  amount: 2499,
  currency: 'EUR',
  charge: 'ch_3P',
  payment_intent: 'pi_3P',
  created: 1_763_999_999,
  status: 'pending',
}
const charge = { id: 'ch_3P', object: 'charge', amount_refunded: 2499, currency: 'eur', payment_intent: 'pi_3P' }

function normalise(eventType: string, object: unknown, more: Record<string, unknown> = {}) {
  const event = { id: 'evt_1', object: 'event', created: 1_764_000_000, livemode: true, data: { object }, ...more }
  return normaliseEvent({ ...origin, eventType }, event)
}

/** The first sighting of an event. */
function observed(...event: Parameters<typeof normalise>) {
  const meaning = normalise(...event)
  if (meaning.kind !== 'observed') throw new Error(`The event has no sighting: ${JSON.stringify(meaning)}`)
  return meaning.sightings[0]
}

describe('an event of the card processor', () => {
  test('refund.created is a sighting with the identity of the refund', () => {
    const made = observed('refund.created', refund, { request: { id: 'req_1', idempotency_key: 'cxl-op-7f2' } })
    expect(made).toEqual({
      kind: 'action',
      action: 'refund',
      provider: 'processor',
      identity: 'prj_1/processor/refund/re_3Q',
      refs: [
        'prj_1/processor/pi_3P',
        'prj_1/processor/ch_3P',
        'prj_1/processor/re_3Q',
        'prj_1/processor/idempotency_key/cxl-op-7f2',
      ],
      objectIds: ['pi_3P', 'ch_3P'],
      subject: 'pi_3P',
      providerRef: 're_3Q',
      gatewayRefs: [],
      amount: 2499,
      currency: 'eur',
      state: 'pending',
      stateVersion: null,
      createdAt: 1_763_999_999_000,
      idempotencyKey: 'cxl-op-7f2',
      requestId: 'req_1',
      // details.test.ts tests the details of all objects.
      details: expect.any(Object),
    })
  })

  const failed = { ...refund, status: 'failed' }
  const backs: { name: string; type: string; object?: object; previous?: object; back: object | undefined }[] = [
    { name: 'its failure', type: 'refund.failed', back: { at: 1_764_000_000_000, by: 1_764_000_000_000 } },
    {
      name: 'an update of its state',
      type: 'refund.updated',
      previous: { status: 'pending' },
      back: { at: 1_764_000_000_000, by: 1_764_000_000_000 },
    },
    {
      name: 'a later update of something else',
      type: 'refund.updated',
      previous: { metadata: {} },
      back: { at: null, by: 1_764_000_000_000 },
    },
    { name: 'an update of a refund that has not failed', type: 'refund.updated', object: refund, back: undefined },
  ]
  test.each(backs)(
    '$name gives the time when the money of a refund came back',
    ({ type, object = failed, previous, back }) => {
      const data = { object, ...(previous === undefined ? {} : { previous_attributes: previous }) }
      const made = observed(type, object, { data })
      expect(made?.kind === 'action' ? made.cameBack : null).toEqual(back)
    },
  )

  test('a failed refund that was read gives the time of the read as the latest time of the return', () => {
    const origin = { projectId: 'prj_1', connectionId: 'con_1', site: null, readAt: 1_764_000_500_000 }
    const read = normaliseObject(origin, 'refund', failed)
    expect(read.kind === 'observed' ? read.sightings : []).toMatchObject([
      { cameBack: { at: null, by: 1_764_000_500_000 }, idempotencyKey: null },
    ])
  })

  const states: { status: string | null; state: string }[] = [
    { status: 'pending', state: 'pending' },
    { status: 'requires_action', state: 'requires_action' },
    { status: 'succeeded', state: 'succeeded' },
    { status: 'failed', state: 'failed' },
    { status: 'canceled', state: 'canceled' },
    { status: null, state: 'pending' },
    { status: 'a_state_of_next_year', state: 'pending' },
  ]
  test.each(states)('a refund in state $status counts as $state', ({ status, state }) => {
    expect(observed('refund.updated', { ...refund, status })).toMatchObject({ state })
  })

  const same: { name: string; type: string; object?: object; more?: object }[] = [
    { name: 'an update', type: 'refund.updated' },
    { name: 'its failure', type: 'refund.failed' },
    {
      name: 'expanded objects instead of ids',
      type: 'refund.created',
      object: { charge: { id: 'ch_3P' }, payment_intent: { id: 'pi_3P' } },
    },
    { name: 'another event id', type: 'refund.created', more: { id: 'evt_2' } },
    { name: 'no charge', type: 'refund.created', object: { charge: null } },
  ]
  test.each(same)('$name is the same action', ({ type, object, more }) => {
    const identity = 'prj_1/processor/refund/re_3Q'
    expect(observed(type, { ...refund, ...object }, { ...more })).toMatchObject({ kind: 'action', identity })
  })

  const views: { name: string; more: object }[] = [
    { name: 'test mode', more: { livemode: false } },
    { name: 'the endpoint of a platform, which names the account', more: { account: 'acct_1' } },
  ]
  // The identity has no mode and no account, because the API does not return them and a re-read must find the same action.
  test.each(views)('a refund event with $name is the same action as the refund in the API', ({ more }) => {
    const read = normaliseObject({ projectId: 'prj_1', connectionId: 'con_1', site: null, readAt: 0 }, 'refund', refund)
    const pushed = { ...observed('refund.created', refund, { ...more }), details: undefined }
    expect(read).toEqual({ kind: 'observed', sightings: [pushed] })
  })

  test('the key of an update is not the idempotency key of the refund', () => {
    const updated = observed('refund.updated', refund, { request: { id: 'req_2', idempotency_key: 'k' } })
    expect(updated).toMatchObject({ idempotencyKey: null })
  })

  test('a refund without payment is its own subject', () => {
    expect(observed('refund.created', { ...refund, charge: null, payment_intent: null })).toMatchObject({
      subject: 're_3Q',
    })
  })

  test('charge.refunded gives the refunded total and the previous total', () => {
    const data = { object: { ...charge, created: 1_763_000_000 }, previous_attributes: { amount_refunded: 500 } }
    const previous = { data, request: { id: 'req_1', idempotency_key: null } }
    expect(observed('charge.refunded', charge, previous)).toMatchObject({
      kind: 'refund_total',
      identity: 'prj_1/processor/charge/ch_3P',
      subject: 'pi_3P',
      chargeId: 'ch_3P',
      total: 2499,
      totalBefore: 500,
      currency: 'eur',
      chargeCreatedAt: 1_763_000_000_000,
      observedAt: 1_764_000_000_000,
      requestId: 'req_1',
    })
  })

  test.each(['customer.created', 'customer.subscription.created', 'invoice.paid'])(
    '%s is ignored with the reason',
    type => {
      expect(normalise(type, {})).toEqual({ kind: 'ignored', reason: `Events of type ${type} are not judged` })
    },
  )

  const odd: { name: string; more: object }[] = [
    { name: 'a request that is a string, as in old API versions', more: { request: 'req_1' } },
    { name: 'an empty idempotency key', more: { request: { id: 'r', idempotency_key: '' } } },
    { name: 'an idempotency key of 256 characters', more: { request: { id: 'r', idempotency_key: 'k'.repeat(256) } } },
    { name: 'an expanded account', more: { account: { id: 'acct_1' } } },
    { name: 'no mode', more: { livemode: null } },
    { name: 'no time of the event', more: { created: undefined } },
  ]
  test.each(odd)('a refund with $name is not ignored', ({ more }) => {
    expect(observed('refund.created', refund, { ...more })).toMatchObject({ kind: 'action', providerRef: 're_3Q' })
  })

  test('a charge with an odd previous amount is not ignored', () => {
    const previous = { data: { object: charge, previous_attributes: { amount_refunded: null } } }
    expect(observed('charge.refunded', charge, previous)).toMatchObject({ kind: 'refund_total', totalBefore: null })
  })

  const malformed: { name: string; object: unknown; reason: string }[] = [
    { name: 'no object', object: undefined, reason: 'data.object' },
    { name: 'no amount', object: { ...refund, amount: undefined }, reason: 'refund.amount' },
    { name: 'an amount as text', object: { ...refund, amount: '2499' }, reason: 'refund.amount' },
    { name: 'a negative amount', object: { ...refund, amount: -1 }, reason: 'refund.amount' },
    {
      name: 'a time in milliseconds',
      object: { ...refund, created: 1_764_000_000_000 },
      reason: 'refund.created',
    },
    { name: 'no currency', object: { ...refund, currency: '' }, reason: 'refund.currency' },
    { name: 'another kind of object', object: { ...refund, object: 'charge' }, reason: 'refund.object' },
  ]
  test.each(malformed)(
    'a refund event with $name is malformed, and the reason names the field',
    ({ object, reason }) => {
      expect(normalise('refund.created', object)).toMatchObject({
        kind: 'malformed',
        reason: expect.stringContaining(reason),
      })
    },
  )
})

describe('a subscription event of the card processor', () => {
  const subscription = PROCESSOR_OBJECTS.subscription
  const asked = { request: { id: 'req_1', idempotency_key: 'end-it' } }
  const updated = (now: object, previous: object | undefined) =>
    observed('customer.subscription.updated', undefined, {
      ...asked,
      data: {
        object: { ...subscription, ...now },
        ...(previous === undefined ? {} : { previous_attributes: previous }),
      },
    })

  test('is a state at the time of the event, with the previous phases', () => {
    const end = { cancel_at_period_end: true, canceled_at: 1_763_999_000 }
    expect(updated(end, { cancel_at_period_end: false, canceled_at: null })).toEqual({
      kind: 'subscription',
      provider: 'processor',
      identity: 'prj_1/processor/subscription/sub_1N',
      refs: ['prj_1/processor/sub_1N', 'prj_1/processor/idempotency_key/end-it'],
      objectIds: ['sub_1N'],
      subject: 'sub_1N',
      asOf: 1_764_000_000_000,
      cancellation: {
        phase: 'scheduled',
        requestedAt: 1_763_999_000_000,
        effectiveAt: 1_766_600_000_000,
        cause: 'requested',
        detail: null,
      },
      pause: { phase: 'none', effectiveAt: null },
      before: { cancellation: 'none', pause: null },
      source: { kind: 'subscription', scheduleId: null },
      idempotencyKey: 'end-it',
      requestId: 'req_1',
      details: expect.any(Object),
    })
  })

  const keys: { name: string; now: object; previous: object | undefined; key: string | null }[] = [
    { name: 'sets an end', now: { cancel_at: 1_766_600_000 }, previous: { cancel_at: null }, key: 'end-it' },
    { name: 'has no previous values', now: { cancel_at: 1_766_600_000 }, previous: undefined, key: 'end-it' },
    { name: 'changes notes', now: { cancel_at: 1_766_600_000 }, previous: { metadata: {} }, key: null },
    { name: 'postpones an end', now: { cancel_at: 1_766_600_000 }, previous: { cancel_at: 1_766_000_000 }, key: null },
    {
      name: 'brings an end forward',
      now: { cancel_at: 1_766_000_000 },
      previous: { cancel_at: 1_766_600_000 },
      key: 'end-it',
    },
  ]
  test.each(keys)(
    'the key of a request that $name is $key for the cancellation, and so is its id',
    ({ now, previous, key }) => {
      const sighting = updated(now, previous)
      expect(sighting).toMatchObject({ idempotencyKey: key })
      expect(Reflect.get(Object(sighting), 'requestId')).toBe(key === null ? undefined : 'req_1')
    },
  )

  const ends: { name: string; request: object; key: string | null }[] = [
    { name: 'a request, with its key', request: { id: 'req_1', idempotency_key: 'end-it' }, key: 'end-it' },
    { name: 'a request without one', request: { id: 'req_1', idempotency_key: null }, key: null },
    { name: 'the processor itself', request: { id: null, idempotency_key: null }, key: null },
  ]
  // The request of the event ended the subscription, so an operation with the same key explains the end.
  test.each(ends)('customer.subscription.deleted by $name', ({ request, key }) => {
    const object = { ...subscription, status: 'canceled', canceled_at: 1_764_000_000, ended_at: 1_764_000_000 }
    const shown = observed('customer.subscription.deleted', object, { request })
    expect(shown).toMatchObject({ kind: 'subscription', idempotencyKey: key })
    expect(shown?.refs.some(ref => ref.includes('end-it'))).toBe(key !== null)
  })

  test('the end of the period may be a field of the subscription, as in API versions before 2025-03-31', () => {
    const older = { cancel_at_period_end: true, items: { data: [{ id: 'si_1' }] }, current_period_end: 1_766_600_000 }
    expect(updated(older, {})).toMatchObject({ cancellation: { effectiveAt: 1_766_600_000_000 } })
  })
})

describe('a charge that lists its refunds', () => {
  const first = { ...refund, id: 're_1', amount: 1000, created: 1_763_000_000 }
  const newest = { ...refund, id: 're_2', amount: 1499, created: 1_763_999_999, payment_intent: null }
  const sightingsOf = (refunds: unknown[], before: number) => {
    const event = normalise('charge.refunded', undefined, {
      request: { id: 'req_1', idempotency_key: 'the-key' },
      data: { object: { ...charge, refunds: { data: refunds } }, previous_attributes: { amount_refunded: before } },
    })
    return event.kind === 'observed' ? event.sightings : []
  }

  test('gives one sighting for each refund and one for the total', () => {
    expect(sightingsOf([newest, first], 1000)).toMatchObject([
      { kind: 'action', providerRef: 're_2', subject: 'pi_3P', idempotencyKey: 'the-key' },
      { kind: 'action', providerRef: 're_1', subject: 'pi_3P', idempotencyKey: null },
      { kind: 'refund_total', total: 2499, totalBefore: 1000, idempotencyKey: 'the-key' },
    ])
  })

  test('gives its key to no refund if its request may not have created the refund', () => {
    for (const one of sightingsOf([newest, first], 500)) {
      expect(one).toMatchObject({ idempotencyKey: one.kind === 'refund_total' ? 'the-key' : null })
    }
  })

  test('ignores unreadable refunds, because the total includes them', () => {
    expect(sightingsOf([{ id: 're_9' }, null, first], 1000).map(one => one.kind)).toEqual(['action', 'refund_total'])
  })
})
