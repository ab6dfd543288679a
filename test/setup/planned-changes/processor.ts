import type { Payment, RefundRequest } from '@backstop/simulator'
import type { Connected } from '../accounts.ts'
import { amountOf, type ChangeKind, nameByAmount, type PreparedChange } from './change-kind.ts'

type SharedFields = Pick<ChangeKind, 'connection'>

/** The kinds of changes at the card processor, mostly refunds. */
export function processorChangeKinds(cards: Connected<'processor'>): ChangeKind[] {
  const common: SharedFields = { connection: cards }
  return [...refundKinds(cards, common), ...subscriptionKinds(cards, common)]
}

function refundKinds({ account }: Connected<'processor'>, common: SharedFields): ChangeKind[] {
  const pay = (amount: number) => account.createPayment({ amount, currency: 'eur' })
  /** A payment with one partial refund, for the change that makes the second partial refund. */
  let halfRefunded: Payment | undefined

  function refundOf(payment: Payment, request: RefundRequest = {}, later?: (id: string) => unknown) {
    const subject = payment.paymentIntent.id
    const amount = request.amount ?? payment.charge.amount
    let ref = ''
    return {
      operation: { kind: 'refund', subject, amount, currency: 'eur' },
      make(key) {
        ref = account.refund({ payment_intent: subject, idempotencyKey: key, ...request }).id
        return { ref, names: [nameByAmount(subject, amount)] }
      },
      ...(later === undefined ? {} : { makeLaterChange: () => later(ref) }),
    } satisfies PreparedChange
  }

  return [
    {
      ...common,
      title: 'a full refund',
      canLoseEvents: true,
      weight: 16,
      records: ['refund'],
      prepare: number => refundOf(pay(amountOf(number))),
    },
    {
      ...common,
      title: 'one of two partial refunds of a payment',
      canLoseEvents: true,
      weight: 16,
      records: ['refund'],
      prepare(number) {
        const payment = halfRefunded ?? pay(2_000_000)
        halfRefunded = halfRefunded === undefined ? payment : undefined
        return refundOf(payment, { amount: amountOf(number) })
      },
    },
    {
      ...common,
      title: 'a refund that is pending for a while',
      weight: 2,
      records: ['refund'],
      prepare: number =>
        refundOf(pay(amountOf(number)), { status: 'pending' }, id => account.settleRefund(id, { status: 'succeeded' })),
    },
    {
      ...common,
      title: 'a refund whose metadata changes',
      weight: 1,
      records: ['refund'],
      prepare: number => refundOf(pay(amountOf(number)), {}, id => account.updateRefund(id, { seen_by: 'accounting' })),
    },
    {
      ...common,
      title: 'a refund that fails later',
      weight: 1,
      records: ['refund', 'reversal'],
      alertDespiteOperation: 'drift.detected',
      prepare: number =>
        refundOf(pay(amountOf(number)), { status: 'pending' }, id =>
          account.settleRefund(id, { status: 'failed', failure_reason: 'declined' }),
        ),
    },
    {
      ...common,
      title: 'a dispute',
      weight: 1,
      records: ['dispute'],
      prepare: number => ({
        operation: null,
        make: () => ({ ref: account.dispute(pay(amountOf(number)).charge.id).id }),
      }),
    },
  ]
}

function subscriptionKinds({ account }: Connected<'processor'>, common: SharedFields): ChangeKind[] {
  type Change = (id: string, key: string | null) => unknown
  const changeOfSubscription =
    (change: Change, later?: (id: string) => unknown) =>
    (number: number): PreparedChange => {
      const { id } = account.subscribe({ amount: amountOf(number), currency: 'eur' }).subscription
      return {
        operation: { kind: 'cancellation', subject: id },
        make(key) {
          change(id, key)
          return { ref: id }
        },
        ...(later === undefined ? {} : { makeLaterChange: () => later(id) }),
      }
    }
  const schedule =
    (by: 'flag' | 'cancel_at'): Change =>
    (id, key) =>
      account.scheduleCancel(id, { by, idempotencyKey: key })
  return [
    {
      ...common,
      title: 'a cancellation at once',
      canLoseEvents: true,
      weight: 2,
      records: ['cancellation'],
      prepare: changeOfSubscription((id, key) => account.cancel(id, { idempotencyKey: key })),
    },
    {
      ...common,
      title: 'a cancellation for the end of the period, by the dashboard',
      canLoseEvents: true,
      weight: 1,
      records: ['cancellation'],
      prepare: changeOfSubscription(schedule('flag')),
    },
    {
      ...common,
      title: 'a scheduled cancellation that takes effect',
      weight: 1,
      records: ['cancellation'],
      prepare: changeOfSubscription(schedule('cancel_at'), account.endPeriod),
    },
    {
      ...common,
      title: 'a scheduled cancellation that is removed',
      weight: 1,
      records: ['cancellation', 'schedule_removal'],
      prepare: changeOfSubscription(schedule('flag'), id => account.unschedule(id)),
    },
    {
      ...common,
      title: 'a pause and its end',
      weight: 1,
      records: ['pause', 'resume'],
      prepare: changeOfSubscription(
        id => account.pauseCollection(id),
        id => account.resumeCollection(id),
      ),
    },
    {
      ...common,
      title: 'an end by dunning',
      weight: 1,
      records: ['cancellation'],
      isInvoluntary: true,
      prepare: changeOfSubscription(account.missPayment, account.endDunning),
    },
    {
      ...common,
      title: 'a change of the quantity',
      weight: 1,
      records: [],
      prepare: changeOfSubscription(id => account.change(id, { quantity: 5 })),
    },
  ]
}
