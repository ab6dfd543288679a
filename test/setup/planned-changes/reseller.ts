import type { Connected } from '../accounts.ts'
import { amountOf, type ChangeKind, type PreparedChange } from './change-kind.ts'

type SharedFields = Pick<ChangeKind, 'connection'>

/** The kinds of changes at the reseller: reviewed refunds, and changes of subscriptions. */
export function resellerChangeKinds(reseller: Connected<'reseller'>): ChangeKind[] {
  const common: SharedFields = { connection: reseller }
  return [...adjustmentKinds(reseller, common), ...subscriptionKinds(reseller, common)]
}

function adjustmentKinds({ account }: Connected<'reseller'>, common: SharedFields): ChangeKind[] {
  const refund =
    (part: number, review: 'automatic' | 'approved' | 'rejected') =>
    (number: number): PreparedChange => {
      const amount = amountOf(number)
      const { id: transactionId } = account.sell({ amount: amount * part })
      let ref = ''
      return {
        operation: { kind: 'refund', subject: transactionId, amount, currency: 'usd' },
        make() {
          ref = account.refund({ transactionId, amount, review: review === 'automatic' ? review : 'pending' }).id
          return { ref }
        },
        makeLaterChange: () => review !== 'automatic' && account.review(ref, review),
      }
    }
  const sold = (number: number) => ({ transactionId: account.sell({ amount: amountOf(number) }).id })
  return [
    {
      ...common,
      title: 'a full refund without review',
      canLoseEvents: true,
      weight: 6,
      records: ['refund'],
      prepare: refund(1, 'automatic'),
    },
    {
      ...common,
      title: 'a partial refund',
      canLoseEvents: true,
      weight: 4,
      records: ['refund'],
      prepare: refund(3, 'automatic'),
    },
    {
      ...common,
      title: 'a refund that the review approves',
      weight: 4,
      records: ['refund'],
      finalState: 'awaiting_review',
      prepare: refund(2, 'approved'),
    },
    {
      ...common,
      title: 'a refund that the review rejects',
      weight: 1,
      records: ['refund'],
      finalState: 'awaiting_review',
      alertDespiteOperation: 'REFUND_REJECTED',
      prepare: refund(1, 'rejected'),
    },
    {
      ...common,
      title: 'a credit',
      weight: 1,
      records: ['credit'],
      prepare: number => ({ operation: null, make: () => ({ ref: account.credit(sold(number)).id }) }),
    },
    {
      ...common,
      title: 'a chargeback that is reversed',
      weight: 1,
      records: ['dispute', 'reversal'],
      prepare(number) {
        let ref = ''
        return {
          operation: null,
          make() {
            ref = account.chargeback(sold(number)).id
            return { ref }
          },
          makeLaterChange: () => account.reverse(ref),
        }
      },
    },
  ]
}

function subscriptionKinds({ account }: Connected<'reseller'>, common: SharedFields): ChangeKind[] {
  type Change = (id: string) => unknown
  const changeOfSubscription =
    (change: Change, later?: Change) =>
    (number: number): PreparedChange => {
      const { id } = account.subscribe({ amount: amountOf(number) }).subscription
      return {
        operation: { kind: 'cancellation', subject: id },
        make() {
          change(id)
          return { ref: id }
        },
        ...(later === undefined ? {} : { makeLaterChange: () => later(id) }),
      }
    }
  return [
    {
      ...common,
      title: 'a cancellation at once',
      canLoseEvents: true,
      weight: 2,
      records: ['cancellation'],
      prepare: changeOfSubscription(account.cancel),
    },
    {
      ...common,
      title: 'a cancellation for the end of the period',
      canLoseEvents: true,
      weight: 1,
      records: ['cancellation'],
      prepare: changeOfSubscription(account.scheduleCancel),
    },
    {
      ...common,
      title: 'a scheduled cancellation that takes effect',
      weight: 1,
      records: ['cancellation'],
      prepare: changeOfSubscription(account.scheduleCancel, account.endPeriod),
    },
    {
      ...common,
      title: 'a scheduled cancellation that is removed',
      weight: 1,
      records: ['cancellation', 'schedule_removal'],
      prepare: changeOfSubscription(account.scheduleCancel, account.unschedule),
    },
    {
      ...common,
      title: 'a pause and its end',
      weight: 1,
      records: ['pause', 'resume'],
      prepare: changeOfSubscription(account.pause, account.resume),
    },
    {
      ...common,
      title: 'a scheduled pause that is removed',
      weight: 1,
      records: ['pause', 'schedule_removal'],
      prepare: changeOfSubscription(id => account.schedulePause(id), account.unschedule),
    },
    {
      ...common,
      title: 'an end by dunning',
      weight: 1,
      records: ['cancellation'],
      isInvoluntary: true,
      prepare: changeOfSubscription(account.missPayment, id => account.endDunning(id)),
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
