import { describe, expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { type Biller, createBiller } from './account.ts'

const START_MS = 1_764_000_000_000
const START_S = START_MS / 1000
const TERM_S = 30 * 86_400

function setUp(remainingBillingCycles?: number) {
  let clockMs = START_MS
  const biller = createBiller({ now: () => clockMs, chance: createChance(1) })
  const cycles = remainingBillingCycles === undefined ? {} : { remainingBillingCycles }
  const { subscription, invoice, payment } = biller.subscribe({ amount: 4_999, ...cycles })
  const before = biller.events().length
  const emitted = () =>
    biller
      .events()
      .slice(before)
      .map(event => event.event_type)
  return { biller, subscription, invoice, payment, emitted, pass: (ms: number) => (clockMs += ms) }
}

describe('a refund', () => {
  test('of an invoice has a credit note that names it, and shows who made it', () => {
    const { biller, invoice, payment, emitted } = setUp()
    const by = { source: 'api', user: 'backstop-execution', originUser: 'agent-7' } as const
    const { creditNote, refund } = biller.refundInvoice(invoice.id, { amount: 2_499, idAtGateway: 're_3Q', by })
    expect(refund).toMatchObject({
      type: 'refund',
      status: 'success',
      amount: 2_499,
      id_at_gateway: 're_3Q',
      refunded_txn_id: payment.id,
      linked_credit_notes: [{ cn_id: creditNote.id, applied_amount: 2_499, cn_status: 'refunded' }],
    })
    expect(creditNote).toMatchObject({
      type: 'refundable',
      status: 'refunded',
      amount_refunded: 2_499,
      amount_available: 0,
      linked_refunds: [{ txn_id: refund.id, applied_amount: 2_499, txn_status: 'success' }],
    })
    expect(emitted()).toEqual(['credit_note_created', 'payment_refunded'])
    const event = biller.events().at(-1)
    expect(event).toMatchObject({ source: 'api', user: 'backstop-execution', origin_user: 'agent-7' })
    expect(Object.keys(event?.content ?? {}).sort()).toEqual(
      ['card', 'credit_note', 'customer', 'invoice', 'subscription', 'transaction'].sort(),
    )
  })

  test('in progress ends later, and a failure releases the credit note', () => {
    const { biller, invoice, payment, emitted } = setUp()
    const { creditNote, refund } = biller.refundInvoice(invoice.id, { status: 'in_progress' })
    expect(refund.status).toBe('in_progress')
    const failed = biller.settleRefund(refund.id, 'failure')
    expect(failed.resource_version).toBeGreaterThan(refund.resource_version ?? 0)
    expect(biller.asOf(START_MS).creditNotes.get(creditNote.id)).toMatchObject({
      status: 'refund_due',
      amount_available: 4_999,
      linked_refunds: [{ txn_id: refund.id, txn_status: 'failure' }],
    })
    expect(biller.asOf(START_MS).transactions.get(payment.id)?.linked_refunds).toEqual([
      { txn_id: refund.id, txn_status: 'failure', txn_date: START_S, txn_amount: 4_999 },
    ])
    expect(emitted()).toEqual(['credit_note_created', 'payment_refunded', 'transaction_updated'])
  })

  test('of a direct debit begins with refund_initiated', () => {
    const { biller } = setUp()
    const { invoice } = biller.bill({ amount: 1_000, method: 'direct_debit' })
    biller.refundInvoice(invoice.id, { status: 'in_progress' })
    expect(biller.events().at(-1)).toMatchObject({ event_type: 'refund_initiated' })
  })

  test('that was recorded by hand has no gateway', () => {
    const { biller, invoice, payment } = setUp()
    const { refund } = biller.refundInvoice(invoice.id, { offline: 'bank_transfer' })
    expect(refund).toMatchObject({
      payment_method: 'bank_transfer',
      gateway: 'not_applicable',
      reference_transaction_id: payment.id,
    })
    expect(refund).not.toHaveProperty('id_at_gateway')
  })

  test('that was recorded by hand has the date that a person gave to it, and its event the time of the recording', () => {
    const { biller, invoice } = setUp()
    const { refund } = biller.refundInvoice(invoice.id, { offline: 'check', dateMs: START_MS - 86_400_000 })
    expect(refund.date).toBe(START_S - 86_400)
    expect(biller.events().at(-1)).toMatchObject({ event_type: 'payment_refunded', occurred_at: START_S })
  })

  test('of an excess payment has no credit note', () => {
    const { biller, payment, emitted } = setUp()
    const refund = biller.refundExcess(payment.id, { amount: 300 })
    expect(refund).toMatchObject({ amount: 300, linked_credit_notes: [] })
    expect(emitted()).toEqual(['payment_refunded'])
    expect(biller.events().at(-1)?.content).not.toHaveProperty('credit_note')
  })

  test('by a chargeback has this reason on credit note and transaction', () => {
    const { biller, invoice } = setUp()
    const { creditNote, refund } = biller.chargeback(invoice.id)
    expect(creditNote.reason_code).toBe('chargeback')
    expect(refund.payment_method).toBe('chargeback')
  })
})

describe('a credit note', () => {
  test('that is refundable returns no money until it is refunded', () => {
    const { biller, invoice, emitted } = setUp()
    const note = biller.issueCreditNote(invoice.id, { amount: 1_000 })
    expect(note).toMatchObject({ status: 'refund_due', amount_available: 1_000, linked_refunds: [] })
    const refund = biller.refundCreditNote(note.id)
    expect(refund.amount).toBe(1_000)
    expect(emitted()).toEqual(['credit_note_created', 'payment_refunded', 'credit_note_updated'])
  })

  test('can be allocated instead, and an adjustment has nothing to refund', () => {
    const { biller, invoice } = setUp()
    const note = biller.issueCreditNote(invoice.id, { amount: 1_000 })
    const other = biller.bill({ amount: 1_000 }).invoice
    expect(biller.allocateCreditNote(note.id, other.id)).toMatchObject({ amount_available: 0, status: 'adjusted' })
    const adjustment = biller.issueCreditNote(invoice.id, { amount: 500, type: 'adjustment' })
    expect(adjustment).toMatchObject({ status: 'adjusted', amount_available: 0 })
    expect(() => biller.refundCreditNote(adjustment.id)).toThrow(/not refundable/)
  })

  test('cannot be of more than the invoice', () => {
    const { biller, invoice } = setUp()
    expect(() => biller.refundInvoice(invoice.id, { amount: 5_000 })).toThrow(/cannot be more than 4999/)
  })
})

describe('a subscription', () => {
  test.each<{
    name: string
    act: (biller: Biller, id: string) => unknown
    emitted: string
    becomes: object
  }>([
    {
      name: 'a scheduled cancellation',
      act: (b, id) => b.scheduleCancel(id, { reasonCode: 'No Longer Needed' }),
      emitted: 'subscription_cancellation_scheduled',
      becomes: {
        status: 'non_renewing',
        cancelled_at: START_S + TERM_S,
        cancel_schedule_created_at: START_S,
        cancel_reason_code: 'No Longer Needed',
      },
    },
    {
      name: 'one that is removed',
      act: (b, id) => [b.scheduleCancel(id), b.removeScheduledCancel(id)],
      emitted: 'subscription_scheduled_cancellation_removed',
      becomes: { status: 'active', next_billing_at: START_S + TERM_S },
    },
    {
      name: 'one that is due',
      act: (b, id) => [b.scheduleCancel(id), b.endTerm(id)],
      emitted: 'subscription_cancelled',
      becomes: { status: 'cancelled', cancelled_at: START_S + TERM_S, cancel_schedule_created_at: START_S },
    },
    {
      name: 'a cancellation at once',
      act: (b, id) => b.cancel(id),
      emitted: 'subscription_cancelled',
      becomes: { status: 'cancelled', cancelled_at: START_S },
    },
    {
      name: 'dunning that ends it',
      act: (b, id) => [b.missPayment(id), b.endDunning(id)],
      emitted: 'subscription_cancelled',
      becomes: { status: 'cancelled', cancel_reason: 'not_paid' },
    },
    {
      name: 'a scheduled pause',
      act: (b, id) => b.schedulePause(id, { resumeAtMs: START_MS + 86_400_000 }),
      emitted: 'subscription_pause_scheduled',
      becomes: { status: 'active', pause_date: START_S + TERM_S, resume_date: START_S + 86_400 },
    },
    {
      name: 'a scheduled pause that is due',
      act: (b, id) => [b.schedulePause(id), b.endTerm(id)],
      emitted: 'subscription_paused',
      becomes: { status: 'paused', pause_date: START_S },
    },
    {
      name: 'a pause and its end',
      act: (b, id) => [b.pause(id), b.scheduleResume(id, START_MS), b.endTerm(id)],
      emitted: 'subscription_resumed',
      becomes: { status: 'active' },
    },
    {
      name: 'a change',
      act: (b, id) => b.change(id, { quantity: 2 }),
      emitted: 'subscription_changed',
      becomes: { status: 'active', subscription_items: [{ quantity: 2, amount: 9_998 }] },
    },
    {
      name: 'a reactivation',
      act: (b, id) => [b.cancel(id), b.reactivate(id)],
      emitted: 'subscription_reactivated',
      becomes: { status: 'active' },
    },
    {
      name: 'a cancellation that is dated back',
      act: (b, id) => b.cancel(id, { asOfMs: START_MS - 86_400_000 }),
      emitted: 'subscription_canceled_with_backdating',
      becomes: { status: 'cancelled', cancelled_at: START_S - 86_400 },
    },
  ])('emits the events of $name and ends in the expected state', ({ act, emitted, becomes }) => {
    const { biller, subscription } = setUp()
    act(biller, subscription.id)
    const last = biller.events().at(-1)
    expect(last?.event_type).toBe(emitted)
    expect(biller.asOf(START_MS).subscriptions.get(subscription.id)).toMatchObject(becomes)
    expect(last?.content).toMatchObject({ subscription: becomes })
  })

  test('whose schedule was removed shows none of its fields', () => {
    const { biller, subscription } = setUp()
    biller.scheduleCancel(subscription.id)
    const after = biller.removeScheduledCancel(subscription.id)
    expect(after).not.toHaveProperty('cancelled_at')
    expect(after).not.toHaveProperty('cancel_schedule_created_at')
  })

  test('of a plan with an end stops renewing without a scheduled cancellation', () => {
    const { biller, subscription, emitted } = setUp(1)
    const last = biller.endTerm(subscription.id)
    expect(last).toMatchObject({ status: 'non_renewing', remaining_billing_cycles: 0 })
    expect(last).not.toHaveProperty('cancel_schedule_created_at')
    biller.endTerm(subscription.id)
    expect(emitted()).toEqual([
      'invoice_generated',
      'payment_succeeded',
      'subscription_renewed',
      'subscription_cancelled',
    ])
    expect(biller.events().at(-1)).toMatchObject({ source: 'scheduled_job' })
  })

  test('that is cancelled refuses the same changes as the API', () => {
    const { biller, subscription } = setUp()
    biller.cancel(subscription.id)
    expect(() => biller.pause(subscription.id)).toThrow(
      expect.objectContaining({
        status: 409,
        body: expect.objectContaining({ api_error_code: 'invalid_state_for_request' }),
      }),
    )
  })
})

test('increases the version of an object with every change, even within one millisecond', () => {
  const { biller, subscription } = setUp()
  const versions = [
    subscription.resource_version,
    biller.scheduleCancel(subscription.id).resource_version,
    biller.removeScheduledCancel(subscription.id).resource_version,
  ]
  expect(versions).toEqual(versions.toSorted((one, other) => Number(one) - Number(other)))
  expect(new Set(versions).size).toBe(3)
})

test('shows an event whose cause asked for no webhook, and does not post it', () => {
  const { biller, invoice } = setUp()
  const posted: string[] = []
  biller.onEvent(event => posted.push(event.event_type))
  biller.refundInvoice(invoice.id, { by: { source: 'api', user: 'leaked-key', suppressesWebhooks: true } })
  expect(posted).toEqual([])
  const records = biller.asOf(START_MS)
  expect(records.events().slice(-2).map(records.postingOf)).toEqual(['skipped', 'skipped'])
})
