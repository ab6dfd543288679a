import type { Connected } from '../accounts.ts'
import { amountOf, type Maker, type Prepared } from './change-kind.ts'

type Common = Pick<Maker, 'through'>

/** Deeds at the reseller: reviewed refunds, and subscriptions. */
export function resellerDeeds(reseller: Connected<'reseller'>): Maker[] {
  const common: Common = { through: reseller }
  return [...adjustmentDeeds(reseller, common), ...subscriptionDeeds(reseller, common)]
}

function adjustmentDeeds({ account }: Connected<'reseller'>, common: Common): Maker[] {
  const refund =
    (part: number, review: 'automatic' | 'approved' | 'rejected') =>
    (number: number): Prepared => {
      const amount = amountOf(number)
      const { id: transactionId } = account.sell({ amount: amount * part })
      let ref = ''
      return {
        said: { kind: 'refund', subject: transactionId, amount, currency: 'usd' },
        act() {
          ref = account.refund({ transactionId, amount, review: review === 'automatic' ? review : 'pending' }).id
          return { ref }
        },
        later: () => review !== 'automatic' && account.review(ref, review),
      }
    }
  const sold = (number: number) => ({ transactionId: account.sell({ amount: amountOf(number) }).id })
  return [
    {
      ...common,
      what: 'a full refund without review',
      isLosable: true,
      share: 6,
      leaves: ['refund'],
      prepare: refund(1, 'automatic'),
    },
    {
      ...common,
      what: 'a refund of a part',
      isLosable: true,
      share: 4,
      leaves: ['refund'],
      prepare: refund(3, 'automatic'),
    },
    {
      ...common,
      what: 'a refund that the review lets through',
      share: 4,
      leaves: ['refund'],
      reportedAs: 'awaiting_review',
      prepare: refund(2, 'approved'),
    },
    {
      ...common,
      what: 'a refund that the review refuses',
      share: 1,
      leaves: ['refund'],
      reportedAs: 'awaiting_review',
      toldThough: 'REFUND_REJECTED',
      prepare: refund(1, 'rejected'),
    },
    {
      ...common,
      what: 'a credit',
      share: 1,
      leaves: ['credit'],
      prepare: number => ({ said: null, act: () => ({ ref: account.credit(sold(number)).id }) }),
    },
    {
      ...common,
      what: 'a chargeback that is taken back',
      share: 1,
      leaves: ['dispute', 'reversal'],
      prepare(number) {
        let ref = ''
        return {
          said: null,
          act() {
            ref = account.chargeback(sold(number)).id
            return { ref }
          },
          later: () => account.reverse(ref),
        }
      },
    },
  ]
}

function subscriptionDeeds({ account }: Connected<'reseller'>, common: Common): Maker[] {
  type Does = (id: string) => unknown
  const on =
    (does: Does, later?: Does) =>
    (number: number): Prepared => {
      const { id } = account.subscribe({ amount: amountOf(number) }).subscription
      return {
        said: { kind: 'cancellation', subject: id },
        act() {
          does(id)
          return { ref: id }
        },
        ...(later === undefined ? {} : { later: () => later(id) }),
      }
    }
  return [
    {
      ...common,
      what: 'a cancellation at once',
      isLosable: true,
      share: 2,
      leaves: ['cancellation'],
      prepare: on(account.cancel),
    },
    {
      ...common,
      what: 'a cancellation with the period',
      isLosable: true,
      share: 1,
      leaves: ['cancellation'],
      prepare: on(account.scheduleCancel),
    },
    {
      ...common,
      what: 'a cancellation that was set and comes',
      share: 1,
      leaves: ['cancellation'],
      prepare: on(account.scheduleCancel, account.endPeriod),
    },
    {
      ...common,
      what: 'a cancellation that was set and is taken back',
      share: 1,
      leaves: ['cancellation', 'schedule_removal'],
      prepare: on(account.scheduleCancel, account.unschedule),
    },
    {
      ...common,
      what: 'a pause and its end',
      share: 1,
      leaves: ['pause', 'resume'],
      prepare: on(account.pause, account.resume),
    },
    {
      ...common,
      what: 'a pause that was set and is taken back',
      share: 1,
      leaves: ['pause', 'schedule_removal'],
      prepare: on(id => account.schedulePause(id), account.unschedule),
    },
    {
      ...common,
      what: 'an end by dunning',
      share: 1,
      leaves: ['cancellation'],
      isInvoluntary: true,
      prepare: on(account.missPayment, id => account.endDunning(id)),
    },
    {
      ...common,
      what: 'another quantity',
      share: 1,
      leaves: [],
      prepare: on(id => account.change(id, { quantity: 5 })),
    },
  ]
}
