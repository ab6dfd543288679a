import { Secret } from '@backstop/kit/config'
import { createCardProcessor, credentialHeaders, thinEventOf } from '@backstop/simulator'
import Stripe from 'stripe'
import { describe, expect, test } from 'vitest'
import { processor } from './index.ts'

const SECRET = 'whsec_a_secret_of_the_destination'
const NOW = Date.parse('2026-03-01T12:00:00Z')
const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_65' }
const read = { projectId: 'prj_1', connectionId: 'con_1', site: null, readAt: NOW + 5_000 }

/** A thin event in the form of docs.stripe.com/api/v2/core/events/event-types. */
const thin = (type: string, related: unknown, more: Record<string, unknown> = {}) => ({
  id: 'evt_65',
  object: 'v2.core.event',
  type,
  created: '2026-03-01T12:00:00.000Z',
  livemode: true,
  context: null,
  related_object: related,
  ...more,
})
const related = (type: string, id: string) => ({ id, type, url: `/v1/${type}s/${id}` })
const meaningOf = (event: ReturnType<typeof thin>) =>
  processor.normaliseEvent({ ...origin, eventType: event.type }, event)

describe('a thin event', () => {
  test.each([
    { type: 'v1.refund.created', object: 'refund', target: 'refund', isEventRead: true },
    { type: 'v1.refund.updated', object: 'refund', target: 'refund' },
    { type: 'v1.refund.failed', object: 'refund', target: 'refund' },
    { type: 'v1.charge.refund.updated', object: 'refund', target: 'refund' },
    { type: 'v1.charge.refunded', object: 'charge', target: 'refunds_of_payment' },
    { type: 'v1.customer.subscription.updated', object: 'subscription', target: 'subscription' },
    { type: 'v1.customer.subscription.deleted', object: 'subscription', target: 'subscription', isEventRead: true },
    { type: 'v1.customer.subscription.paused', object: 'subscription', target: 'subscription' },
    { type: 'v1.subscription_schedule.updated', object: 'subscription_schedule', target: 'subscription_schedule' },
    { type: 'v1.subscription_schedule.canceled', object: 'subscription_schedule', target: 'subscription_schedule' },
  ])('$type is a hint to read its $object', ({ type, object, target, isEventRead = false }) => {
    const event = isEventRead ? [{ type: 'event', id: 'evt_65' }] : []
    expect(meaningOf(thin(type, related(object, 'x_1')))).toEqual({
      kind: 'hint',
      targets: [{ type: target, id: 'x_1' }, ...event],
    })
  })

  test('of a connected account is a hint to read with its context', () => {
    const event = thin('v1.refund.created', related('refund', 're_1'), { context: 'acct_platform/acct_1' })
    const account = 'acct_platform/acct_1'
    expect(meaningOf(event)).toEqual({
      kind: 'hint',
      targets: [
        { type: 'refund', id: 're_1', account },
        { type: 'event', id: 'evt_65', account },
      ],
    })
  })

  test.each([
    { type: 'v2.core.event_destination.ping', object: 'v2.core.event_destination' },
    { type: 'v2.core.account.updated', object: 'v2.core.account' },
    { type: 'v1.charge.succeeded', object: 'charge' },
    { type: 'v1.a_type.of_next_year', object: 'a_thing' },
    { type: 'v1.charge.dispute.created', object: 'dispute' },
    // Only a thin event has the prefix.
    { type: 'v2.refund.created', object: 'refund' },
  ])('$type is ignored, with the reason', ({ type, object }) => {
    expect(meaningOf(thin(type, related(object, 'x_1')))).toEqual({
      kind: 'ignored',
      reason: expect.stringContaining(type),
    })
  })

  test.each([
    { name: 'no related object', event: thin('v1.refund.created', null), reason: /^related_object\.id: / },
    { name: 'an object in its place', event: thin('v1.refund.created', {}), reason: /^related_object\.id: / },
    { name: 'a number as id', event: thin('v1.refund.created', { id: 7 }), reason: /^related_object\.id: / },
    {
      name: 'a context that would break a header',
      event: thin('v1.refund.created', related('refund', 're_1'), { context: 'acct_1\r\nx: y' }),
      reason: /^context: /,
    },
  ])('is malformed with $name', ({ event, reason }) => {
    expect(meaningOf(event)).toEqual({ kind: 'malformed', reason: expect.stringMatching(reason) })
  })
})

describe('a thin event of the simulated processor', () => {
  const account = createCardProcessor({ now: () => NOW })
  const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
  account.refund({ charge: charge.id, amount: 1_500, idempotencyKey: 'key-1' })
  const [made] = account.events().filter(({ type }) => type === 'refund.created')
  const event = thinEventOf(made!)
  const body = Buffer.from(JSON.stringify(event))
  const headers = credentialHeaders({ kind: 'processor', secrets: [SECRET] }, body, NOW)

  test('is what the official SDK takes, with its signature, and so does this product', () => {
    const signature = headers['processor-signature'] ?? ''
    const notification = new Stripe('sk_test_x').parseEventNotification(body, signature, SECRET, 300, undefined, NOW)
    expect(notification).toMatchObject({ type: 'v1.refund.created', related_object: { type: 'refund' } })
    const key = processor.prepareSecret(new Secret(SECRET))
    const secrets = key.kind === 'prepared' ? [key.credential] : []
    const official = new Stripe('sk_test_x').webhooks.generateTestHeaderString({
      payload: body.toString('utf8'),
      secret: SECRET,
      timestamp: NOW / 1000,
    })
    for (const value of [signature, official]) {
      expect(processor.authenticate({ headerValues: [value], body, nowMs: NOW }, secrets)).toMatchObject({
        kind: 'authentic',
      })
    }
  })

  const withObject = (more: Record<string, unknown> = {}) =>
    processor.normaliseObject(read, 'event', { ...event, ...more, data: { object: made?.data.object } })
  const readAs = (more: Record<string, unknown>) => {
    const meaning = withObject(more)
    return meaning.kind === 'observed' ? meaning.sightings : []
  }

  test('with the object that was read is the same action as the event with the object', () => {
    const pushed = processor.normaliseEvent({ ...origin, eventType: 'refund.created' }, { ...made })
    expect(withObject()).toEqual(pushed)
    expect(pushed).toMatchObject({ sightings: [{ idempotencyKey: 'key-1' }] })
  })

  test.each([
    {
      name: 'a user of the dashboard',
      client: {
        type: 'dashboard_user',
        dashboard_user: { email: 'ana@example.com', ip_address: '192.0.2.1', machine_identifier: 'mac-1' },
      },
      shown: { channel: 'dashboard', user: 'ana@example.com' },
    },
    { name: 'a key', client: { api_key: { id: 'mk_1' } }, shown: { channel: 'api', key_name: 'mk_1' } },
    {
      name: 'a user of the dashboard without a name',
      client: { type: 'dashboard_user', dashboard_user: {} },
      shown: { channel: 'dashboard', user: null, key_name: null },
    },
    {
      name: 'an action of the processor itself',
      client: { type: 'stripe_action', stripe_action: {} },
      shown: { channel: 'automatic', user: null, key_name: null },
    },
    { name: 'a client of next year', client: { robot: 7 }, shown: { channel: 'api', key_name: null, user: null } },
  ])('shows $name as the origin if it names one', ({ client, shown }) => {
    const reason = { type: 'request', request: { id: 'req_1', idempotency_key: 'key-1', client } }
    expect(withObject({ reason })).toMatchObject({
      sightings: [{ details: { origin: { ...shown, request_id: 'req_1' } } }],
    })
  })

  test('says nothing of a request that it does not name', () => {
    const [shown] = readAs({ reason: undefined })
    expect(shown).toMatchObject({ idempotencyKey: null })
    expect(shown?.details).not.toHaveProperty('origin')
  })
})
