import { describe, expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { createReseller, type Reseller } from './account.ts'

const START_MS = 1_764_000_000_000

function setUp() {
  let clockMs = START_MS
  const reseller = createReseller({ now: () => clockMs, chance: createChance(1) })
  const { subscription, transaction } = reseller.subscribe({ amount: 4_999, customData: { tenant: 't1' } })
  const emitted = typesSince(reseller)
  return { reseller, subscription, transaction, emitted, pass: (ms: number) => (clockMs += ms) }
}

/** The types of all later events. */
function typesSince(reseller: Reseller): () => string[] {
  const before = reseller.events().length
  return () =>
    reseller
      .events()
      .slice(before)
      .map(event => event.event_type)
}

describe('an adjustment', () => {
  test('for a refund waits for its review and then shows the result', () => {
    const { reseller, transaction, emitted, pass } = setUp()
    const refund = reseller.refund({ transactionId: transaction.id, amount: 2_499, reason: 'op:7f2' })
    expect(refund).toMatchObject({ action: 'refund', type: 'partial', status: 'pending_approval', reason: 'op:7f2' })
    expect(refund.totals).toMatchObject({ subtotal: '2083', tax: '416', total: '2499' })
    pass(60_000)
    const approved = reseller.review(refund.id, 'approved')
    expect(approved).toMatchObject({ id: refund.id, status: 'approved', updated_at: '2025-11-24T16:01:00.000Z' })
    expect(emitted()).toEqual(['adjustment.created', 'adjustment.updated'])
    expect(reseller.events().at(-2)?.data).toMatchObject({ status: 'pending_approval' })
  })

  test('can be approved at once, or rejected, which releases the amount', () => {
    const { reseller, transaction } = setUp()
    const first = reseller.refund({ transactionId: transaction.id, amount: 1_000, review: 'automatic' })
    expect(first.status).toBe('approved')
    const second = reseller.refund({ transactionId: transaction.id })
    expect(second.totals.total).toBe('3999')
    reseller.review(second.id, 'rejected')
    expect(reseller.refund({ transactionId: transaction.id }).totals.total).toBe('3999')
  })

  test.each([
    {
      name: 'a credit',
      make: (r: Reseller, id: string) => r.credit({ transactionId: id, amount: 500 }),
      action: 'credit',
    },
    {
      name: 'a chargeback',
      make: (r: Reseller, id: string) => r.chargeback({ transactionId: id }),
      action: 'chargeback',
    },
    {
      name: 'a chargeback warning',
      make: (r: Reseller, id: string) => r.chargeback({ transactionId: id, warning: true }),
      action: 'chargeback_warning',
    },
  ])('for $name is approved at once and is taken back by one of its own', ({ make, action }) => {
    const { reseller, transaction, emitted } = setUp()
    const adjustment = make(reseller, transaction.id)
    expect(adjustment).toMatchObject({ action, status: 'approved' })
    const reversal = reseller.reverse(adjustment.id)
    expect(reversal).toMatchObject({ action: `${action}_reverse`, transaction_id: transaction.id, status: 'approved' })
    expect(reversal.id).not.toBe(adjustment.id)
    expect(emitted()).toEqual(['adjustment.created', 'adjustment.created', 'adjustment.updated'])
    expect(reseller.events().at(-1)?.data).toMatchObject({ id: adjustment.id, status: 'reversed' })
  })

  test('for a downgrade in mid-cycle credits by proration', () => {
    const { reseller, transaction } = setUp()
    const credit = reseller.credit({ transactionId: transaction.id, amount: 700, proration: true })
    expect(credit).toMatchObject({ credit_applied_to_balance: true, items: [{ type: 'proration', amount: '700' }] })
  })

  test.each<{ name: string; attempt: (reseller: Reseller, transactionId: string) => unknown; code: string }>([
    {
      name: 'a second one while the first is under review',
      attempt: (r, transactionId) => [r.refund({ transactionId, amount: 1 }), r.credit({ transactionId, amount: 1 })],
      code: 'adjustment_pending_refund_request',
    },
    {
      name: 'more than the rest',
      attempt: (r, transactionId) => r.refund({ transactionId, amount: 5_000 }),
      code: 'adjustment_total_amount_above_remaining_allowed',
    },
    { name: 'an unknown transaction', attempt: r => r.refund({ transactionId: 'txn_x' }), code: 'not_found' },
    {
      name: 'a second review',
      attempt: (r, transactionId) => r.review(r.refund({ transactionId, review: 'automatic' }).id, 'rejected'),
      code: 'conflict',
    },
  ])('is refused for $name as the API refuses it', ({ attempt, code }) => {
    const { reseller, transaction } = setUp()
    const body = { error: expect.objectContaining({ code }) }
    expect(() => attempt(reseller, transaction.id)).toThrow(expect.objectContaining({ name: 'ResellerRefusal', body }))
  })
})

describe('a subscription', () => {
  test.each<{
    name: string
    act: (reseller: Reseller, id: string) => unknown
    emitted: string[]
    becomes: object
  }>([
    {
      name: 'a cancellation at once',
      act: (r, id) => r.cancel(id),
      emitted: ['subscription.updated', 'subscription.canceled'],
      becomes: { status: 'canceled', canceled_at: '2025-11-24T16:00:00.000Z', scheduled_change: null },
    },
    {
      name: 'a scheduled cancellation',
      act: (r, id) => r.scheduleCancel(id),
      emitted: ['subscription.updated'],
      becomes: {
        status: 'active',
        scheduled_change: { action: 'cancel', effective_at: '2025-12-24T16:00:00.000Z', resume_at: null },
        next_billed_at: null,
      },
    },
    {
      name: 'a scheduled cancellation that is due',
      act: (r, id) => [r.scheduleCancel(id), r.endPeriod(id)],
      emitted: ['subscription.updated', 'subscription.updated', 'subscription.canceled'],
      becomes: { status: 'canceled', scheduled_change: null },
    },
    {
      name: 'a scheduled cancellation that is removed',
      act: (r, id) => [r.scheduleCancel(id), r.unschedule(id)],
      emitted: ['subscription.updated', 'subscription.updated'],
      becomes: { status: 'active', scheduled_change: null, next_billed_at: '2025-12-24T16:00:00.000Z' },
    },
    {
      name: 'a pause at once and its end',
      act: (r, id) => [r.pause(id), r.resume(id)],
      emitted: ['subscription.updated', 'subscription.paused', 'subscription.updated', 'subscription.resumed'],
      becomes: { status: 'active', paused_at: null },
    },
    {
      name: 'a scheduled pause with an end that is due',
      act: (r, id) => [r.schedulePause(id, START_MS + 86_400_000), r.endPeriod(id)],
      emitted: ['subscription.updated', 'subscription.updated', 'subscription.paused'],
      becomes: {
        status: 'paused',
        scheduled_change: { action: 'resume', effective_at: '2025-11-25T16:00:00.000Z', resume_at: null },
      },
    },
    {
      name: 'dunning that ends it',
      act: (r, id) => [r.missPayment(id), r.endDunning(id)],
      emitted: ['subscription.updated', 'subscription.past_due', 'subscription.updated', 'subscription.canceled'],
      becomes: { status: 'canceled' },
    },
    {
      name: 'a change that is not a cancellation',
      act: (r, id) => r.change(id, { quantity: 3, customData: { tenant: 't2' } }),
      emitted: ['subscription.updated'],
      becomes: { status: 'active', custom_data: { tenant: 't2' } },
    },
    {
      name: 'a renewal',
      act: (r, id) => r.endPeriod(id),
      emitted: ['transaction.completed', 'subscription.updated'],
      becomes: { status: 'active' },
    },
  ])('emits the events of $name and ends in the expected state', ({ act, emitted, becomes }) => {
    const world = setUp()
    act(world.reseller, world.subscription.id)
    expect(world.emitted()).toEqual(emitted)
    const { id } = world.subscription
    expect(world.reseller.asOf(START_MS).subscriptions.get(id)).toMatchObject(becomes)
    const last = world.reseller.events().at(-1)
    expect(last?.data).toMatchObject({ ...becomes, id })
    expect(last?.data).not.toHaveProperty('management_urls')
  })

  test('that is canceled stays canceled', () => {
    const { reseller, subscription } = setUp()
    reseller.cancel(subscription.id)
    expect(() => reseller.resume(subscription.id)).toThrow(/is canceled/)
  })
})

test('gives the same account for the same seed', () => {
  expect(setUp().reseller.events()).toEqual(setUp().reseller.events())
})
