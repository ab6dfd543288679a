import { describe, expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { createCardProcessor } from './account.ts'
import type { ProcessorEvent } from './events.ts'
import { ProcessorRefusal } from './refusal.ts'

const NOW_MS = 1_764_000_000_000
const account = (options: { sendsRefundEvents?: boolean } = {}) =>
  createCardProcessor({ now: () => NOW_MS, chance: createChance(1), ...options })

function lastEvent(events: readonly ProcessorEvent[], type: string): ProcessorEvent {
  const event = events.findLast(candidate => candidate.type === type)
  if (event === undefined) throw new Error(`No ${type} among ${events.map(candidate => candidate.type).join(', ')}`)
  return event
}

describe('a refund', () => {
  test('emits refund.created and charge.refunded with references to each other and to their request', () => {
    const processor = account()
    const { charge, paymentIntent } = processor.createPayment({ amount: 4_999, currency: 'EUR' })
    const refund = processor.refund({ charge: charge.id, amount: 2_499, idempotencyKey: 'op-7' })

    const created = lastEvent(processor.events(), 'refund.created')
    expect(created).toMatchObject({
      object: 'event',
      api_version: '2026-10-28.endive',
      created: NOW_MS / 1000,
      livemode: false,
      request: { id: expect.stringMatching(/^req_\w{14}$/), idempotency_key: 'op-7' },
      data: { object: { id: refund.id, amount: 2_499, currency: 'eur', charge: charge.id, status: 'succeeded' } },
    })
    expect(created.data.previous_attributes).toBeUndefined()
    expect(refund.payment_intent).toBe(paymentIntent.id)

    const refunded = lastEvent(processor.events(), 'charge.refunded')
    expect(refunded.request).toEqual(created.request)
    expect(refunded.data.object).toMatchObject({ id: charge.id, amount_refunded: 2_499, refunded: false })
    expect(refunded.data.previous_attributes).toEqual({ amount_refunded: 0 })
  })

  test('of the rest makes the charge fully refunded, and a further refund is refused', () => {
    const processor = account()
    const { paymentIntent } = processor.createPayment({ amount: 4_999, currency: 'eur' })
    processor.refund({ payment_intent: paymentIntent.id, amount: 4_000 })
    const rest = processor.refund({ payment_intent: paymentIntent.id })
    expect(rest.amount).toBe(999)
    expect(lastEvent(processor.events(), 'charge.refunded').data.previous_attributes).toEqual({
      amount_refunded: 4_000,
      refunded: false,
    })
    expect(() => processor.refund({ payment_intent: paymentIntent.id })).toThrow(/has already been refunded/)
  })

  test('by a slow bank stays pending until it is settled', () => {
    const processor = account()
    const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
    const refund = processor.refund({ charge: charge.id, status: 'pending' })
    expect(refund).toMatchObject({ status: 'pending', pending_reason: 'processing', balance_transaction: null })
    processor.settleRefund(refund.id, { status: 'succeeded' })
    const updated = lastEvent(processor.events(), 'refund.updated')
    expect(updated.data.object).toMatchObject({ id: refund.id, status: 'succeeded' })
    expect(updated.data.previous_attributes).toEqual({ status: 'pending', balance_transaction: null })
    expect(updated.request).toEqual({ id: null, idempotency_key: null })
  })

  test('that fails returns the amount to the charge and gives the reason', () => {
    const processor = account()
    const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
    const refund = processor.refund({ charge: charge.id, status: 'pending' })
    processor.settleRefund(refund.id, { status: 'failed', failure_reason: 'expired_or_canceled_card' })
    expect(processor.charges()[0]).toMatchObject({ amount_refunded: 0, refunded: false })
    expect(lastEvent(processor.events(), 'refund.failed').data.object).toMatchObject({
      status: 'failed',
      failure_reason: 'expired_or_canceled_card',
    })
    expect(() => processor.settleRefund(refund.id, { status: 'succeeded' })).toThrow(/cannot change any more/)
  })

  test('that is repeated with its idempotency key is the same refund and emits no second event', () => {
    const processor = account()
    const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
    const first = processor.refund({ charge: charge.id, amount: 100, idempotencyKey: 'key-1' })
    const events = processor.events().length
    expect(processor.refund({ charge: charge.id, amount: 100, idempotencyKey: 'key-1' })).toEqual(first)
    expect(processor.events()).toHaveLength(events)
    expect(() => processor.refund({ charge: charge.id, amount: 200, idempotencyKey: 'key-1' })).toThrow(
      /same parameters/,
    )
  })

  test('on an account without refund events emits charge.refunded only', () => {
    const processor = account({ sendsRefundEvents: false })
    const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
    processor.refund({ charge: charge.id })
    expect(processor.events().map(event => event.type)).toEqual(['charge.succeeded', 'charge.refunded'])
  })
})

test.each([
  { name: 'more than the rest', request: { amount: 1_001 }, param: 'amount' },
  { name: 'nothing', request: { amount: 0 }, param: 'amount' },
  { name: 'an unknown charge', request: { charge: 'ch_unknown' }, param: 'charge' },
])('a refund of $name is refused as the API refuses it', ({ request, param }) => {
  const processor = account()
  const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
  const refused = () => processor.refund({ charge: charge.id, ...request })
  expect(refused).toThrow(ProcessorRefusal)
  expect(refused).toThrow(expect.objectContaining({ body: { error: expect.objectContaining({ param }) } }))
  expect(processor.events().map(event => event.type)).toEqual(['charge.succeeded'])
})

test('an event keeps its values when the object changes later', () => {
  const processor = account()
  const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
  const refund = processor.refund({ charge: charge.id, status: 'pending' })
  processor.settleRefund(refund.id, { status: 'succeeded' })
  expect(lastEvent(processor.events(), 'refund.created').data.object).toMatchObject({ status: 'pending' })
})
