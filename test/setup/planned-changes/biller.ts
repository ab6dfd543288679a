import type { Connected } from '../accounts.ts'
import { amountOf, type Maker, nameByAmount, type Prepared } from './change-kind.ts'

type Common = Pick<Maker, 'through'>

/** Deeds at the subscription biller, whose gateway is the card processor. */
export function billerDeeds(biller: Connected<'subscription'>, gateway: Connected<'processor'>): Maker[] {
  const common: Common = { through: biller }
  return [...refundDeeds(biller, common), ...gatewayDeeds(biller, gateway), ...subscriptionDeeds(biller, common)]
}

function refundDeeds({ account }: Connected<'subscription'>, common: Common): Maker[] {
  return [
    {
      ...common,
      what: 'a refund of an invoice',
      isLosable: true,
      share: 2,
      leaves: ['refund', 'credit'],
      prepare(number) {
        const amount = amountOf(number)
        const { invoice } = account.bill({ amount })
        return {
          said: { kind: 'refund', subject: invoice.id, amount, currency: 'eur' },
          act: () => ({ ref: account.refundInvoice(invoice.id).refund.id }),
        }
      },
    },
    {
      ...common,
      what: 'a refund of a part, by cheque',
      isLosable: true,
      share: 2,
      leaves: ['refund', 'credit'],
      prepare(number) {
        const amount = amountOf(number)
        const { invoice, subscription } = account.subscribe({ amount: 2 * amount })
        return {
          said: { kind: 'refund', subject: subscription.id, amount, currency: 'eur' },
          act: () => ({ ref: account.refundInvoice(invoice.id, { amount, offline: 'check' }).refund.id }),
        }
      },
    },
    {
      ...common,
      what: 'a credit',
      share: 2,
      leaves: ['credit'],
      prepare(number) {
        const { invoice } = account.subscribe({ amount: amountOf(number) })
        return { said: null, act: () => ({ ref: account.issueCreditNote(invoice.id).id }) }
      },
    },
  ]
}

/** One refund that both report; its operation has the biller's id or the processor's id. */
function gatewayDeeds({ account, ...biller }: Connected<'subscription'>, gateway: Connected<'processor'>): Maker[] {
  const cards = gateway.account
  const prepare =
    (named: 'at the biller' | 'at the gateway') =>
    (number: number): Prepared => {
      const amount = amountOf(number)
      const payment = cards.createPayment({ amount, currency: 'eur' })
      const { invoice, subscription } = account.subscribe({ amount, idAtGateway: payment.charge.id })
      const payee = payment.paymentIntent.id
      return {
        said: { kind: 'refund', subject: named === 'at the biller' ? subscription.id : payee, amount, currency: 'eur' },
        act(key) {
          const atGateway = cards.refund({ payment_intent: payee, idempotencyKey: key }).id
          const { refund } = account.refundInvoice(invoice.id, { idAtGateway: atGateway })
          const other = named === 'at the biller' ? atGateway : refund.id
          return { ref: named === 'at the biller' ? refund.id : atGateway, names: [other, nameByAmount(payee, amount)] }
        },
      }
    }
  const common = { share: 3, leaves: ['refund', 'credit'] } as const
  return [
    {
      ...common,
      what: 'a refund through the gateway, as the biller names it',
      through: biller,
      prepare: prepare('at the biller'),
    },
    {
      ...common,
      what: 'a refund through the gateway, as the gateway names it',
      through: gateway,
      prepare: prepare('at the gateway'),
    },
  ]
}

function subscriptionDeeds({ account }: Connected<'subscription'>, common: Common): Maker[] {
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
  const schedule: Does = id => account.scheduleCancel(id)
  return [
    {
      ...common,
      what: 'a cancellation at once',
      isLosable: true,
      share: 4,
      leaves: ['cancellation'],
      prepare: on(id => account.cancel(id)),
    },
    { ...common, what: 'a cancellation with the term', share: 3, leaves: ['cancellation'], prepare: on(schedule) },
    {
      ...common,
      what: 'a cancellation that was set and comes',
      share: 2,
      leaves: ['cancellation'],
      prepare: on(schedule, id => account.endTerm(id)),
    },
    {
      ...common,
      what: 'a cancellation that was set and is taken back',
      share: 2,
      leaves: ['cancellation', 'schedule_removal'],
      prepare: on(schedule, id => account.removeScheduledCancel(id)),
    },
    {
      ...common,
      what: 'a pause and its end',
      share: 2,
      leaves: ['pause', 'resume'],
      prepare: on(
        id => account.pause(id),
        id => account.resume(id),
      ),
    },
    {
      ...common,
      what: 'a pause that was set and is taken back',
      share: 2,
      leaves: ['pause', 'schedule_removal'],
      prepare: on(
        id => account.schedulePause(id),
        id => account.removeScheduledPause(id),
      ),
    },
    {
      ...common,
      what: 'an end by dunning',
      share: 2,
      leaves: ['cancellation'],
      isInvoluntary: true,
      prepare: on(account.endDunning),
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
