import type { Payment, RefundRequest } from '@backstop/simulator'
import type { Connected } from '../accounts.ts'
import { amountOf, type Maker, nameByAmount, type Prepared } from './change-kind.ts'

type Common = Pick<Maker, 'through'>

/** Deeds at the card processor, mostly refunds. */
export function processorDeeds(cards: Connected<'processor'>): Maker[] {
  const common: Common = { through: cards }
  return [...refundDeeds(cards, common), ...subscriptionDeeds(cards, common)]
}

function refundDeeds({ account }: Connected<'processor'>, common: Common): Maker[] {
  const pay = (amount: number) => account.createPayment({ amount, currency: 'eur' })
  /** A partly refunded payment, for a deed that refunds another part. */
  let begun: Payment | undefined

  function refundOf(payment: Payment, request: RefundRequest = {}, later?: (id: string) => unknown) {
    const subject = payment.paymentIntent.id
    const amount = request.amount ?? payment.charge.amount
    let ref = ''
    return {
      said: { kind: 'refund', subject, amount, currency: 'eur' },
      act(key) {
        ref = account.refund({ payment_intent: subject, idempotencyKey: key, ...request }).id
        return { ref, names: [nameByAmount(subject, amount)] }
      },
      ...(later === undefined ? {} : { later: () => later(ref) }),
    } satisfies Prepared
  }

  return [
    {
      ...common,
      what: 'a full refund',
      isLosable: true,
      share: 16,
      leaves: ['refund'],
      prepare: number => refundOf(pay(amountOf(number))),
    },
    {
      ...common,
      what: 'a refund of a part, of a payment of which two are refunded',
      isLosable: true,
      share: 16,
      leaves: ['refund'],
      prepare(number) {
        const payment = begun ?? pay(1_000_000)
        begun = begun === undefined ? payment : undefined
        return refundOf(payment, { amount: amountOf(number) })
      },
    },
    {
      ...common,
      what: 'a refund that is pending at first',
      share: 2,
      leaves: ['refund'],
      prepare: number =>
        refundOf(pay(amountOf(number)), { status: 'pending' }, id => account.settleRefund(id, { status: 'succeeded' })),
    },
    {
      ...common,
      what: 'a refund whose metadata changes',
      share: 1,
      leaves: ['refund'],
      prepare: number => refundOf(pay(amountOf(number)), {}, id => account.updateRefund(id, { seen_by: 'accounting' })),
    },
    {
      ...common,
      what: 'a refund that fails after all',
      share: 1,
      leaves: ['refund', 'reversal'],
      toldThough: 'drift.detected',
      prepare: number =>
        refundOf(pay(amountOf(number)), { status: 'pending' }, id =>
          account.settleRefund(id, { status: 'failed', failure_reason: 'declined' }),
        ),
    },
    {
      ...common,
      what: 'a dispute',
      share: 1,
      leaves: ['dispute'],
      prepare: number => ({ said: null, act: () => ({ ref: account.dispute(pay(amountOf(number)).charge.id).id }) }),
    },
  ]
}

function subscriptionDeeds({ account }: Connected<'processor'>, common: Common): Maker[] {
  type Does = (id: string, key: string | null) => unknown
  const on =
    (does: Does, later?: (id: string) => unknown) =>
    (number: number): Prepared => {
      const { id } = account.subscribe({ amount: amountOf(number), currency: 'eur' }).subscription
      return {
        said: { kind: 'cancellation', subject: id },
        act(key) {
          does(id, key)
          return { ref: id }
        },
        ...(later === undefined ? {} : { later: () => later(id) }),
      }
    }
  const schedule =
    (by: 'flag' | 'cancel_at'): Does =>
    (id, key) =>
      account.scheduleCancel(id, { by, idempotencyKey: key })
  return [
    {
      ...common,
      what: 'a cancellation at once',
      isLosable: true,
      share: 2,
      leaves: ['cancellation'],
      prepare: on((id, key) => account.cancel(id, { idempotencyKey: key })),
    },
    {
      ...common,
      what: 'a cancellation with the period, by the dashboard',
      isLosable: true,
      share: 1,
      leaves: ['cancellation'],
      prepare: on(schedule('flag')),
    },
    {
      ...common,
      what: 'a cancellation that was set and comes',
      share: 1,
      leaves: ['cancellation'],
      prepare: on(schedule('cancel_at'), account.endPeriod),
    },
    {
      ...common,
      what: 'a cancellation that was set and is taken back',
      share: 1,
      leaves: ['cancellation', 'schedule_removal'],
      prepare: on(schedule('flag'), id => account.unschedule(id)),
    },
    {
      ...common,
      what: 'a pause and its end',
      share: 1,
      leaves: ['pause', 'resume'],
      prepare: on(
        id => account.pauseCollection(id),
        id => account.resumeCollection(id),
      ),
    },
    {
      ...common,
      what: 'an end by dunning',
      share: 1,
      leaves: ['cancellation'],
      isInvoluntary: true,
      prepare: on(account.missPayment, account.endDunning),
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
