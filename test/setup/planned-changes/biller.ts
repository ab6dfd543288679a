import type { Connected } from '../accounts.ts'
import { amountOf, type ChangeKind, nameByAmount, type PreparedChange } from './change-kind.ts'

type SharedFields = Pick<ChangeKind, 'connection'>

/** The kinds of changes at the subscription biller, whose gateway is the card processor. */
export function billerChangeKinds(biller: Connected<'subscription'>, gateway: Connected<'processor'>): ChangeKind[] {
  const common: SharedFields = { connection: biller }
  return [...refundKinds(biller, common), ...gatewayRefundKinds(biller, gateway), ...subscriptionKinds(biller, common)]
}

function refundKinds({ account }: Connected<'subscription'>, common: SharedFields): ChangeKind[] {
  return [
    {
      ...common,
      title: 'a refund of an invoice',
      canLoseEvents: true,
      weight: 2,
      records: ['refund', 'credit'],
      prepare: number => prepareRefund(account, number),
    },
    {
      ...common,
      title: 'a partial refund by cheque',
      canLoseEvents: true,
      weight: 2,
      records: ['refund', 'credit'],
      prepare(number) {
        const amount = amountOf(number)
        const { invoice, subscription } = account.subscribe({ amount: 2 * amount })
        return {
          operation: { kind: 'refund', subject: subscription.id, amount, currency: 'eur' },
          make: () => ({ ref: account.refundInvoice(invoice.id, { amount, offline: 'check' }).refund.id }),
        }
      },
    },
    {
      ...common,
      title: 'a credit',
      weight: 2,
      records: ['credit'],
      prepare(number) {
        const { invoice } = account.subscribe({ amount: amountOf(number) })
        return { operation: null, make: () => ({ ref: account.issueCreditNote(invoice.id).id }) }
      },
    },
  ]
}

/** Prepares the refund of a whole invoice. @param by who will make it; a person at the dashboard by default */
export function prepareRefund(
  account: Connected<'subscription'>['account'],
  number: number,
  by?: NonNullable<Parameters<typeof account.refundInvoice>[1]>['by'],
): PreparedChange {
  const amount = amountOf(number)
  const { invoice } = account.bill({ amount })
  return {
    operation: { kind: 'refund', subject: invoice.id, amount, currency: 'eur' },
    make: () => ({ ref: account.refundInvoice(invoice.id, by === undefined ? {} : { by }).refund.id }),
  }
}

/** Refunds that biller and processor both report. The operation has the id of the biller or of the processor. */
function gatewayRefundKinds(
  { account, ...biller }: Connected<'subscription'>,
  gateway: Connected<'processor'>,
): ChangeKind[] {
  const cards = gateway.account
  const prepare =
    (named: 'at the biller' | 'at the gateway') =>
    (number: number): PreparedChange => {
      const amount = amountOf(number)
      const payment = cards.createPayment({ amount, currency: 'eur' })
      const { invoice, subscription } = account.subscribe({ amount, idAtGateway: payment.charge.id })
      const payee = payment.paymentIntent.id
      return {
        operation: {
          kind: 'refund',
          subject: named === 'at the biller' ? subscription.id : payee,
          amount,
          currency: 'eur',
        },
        make(key) {
          const atGateway = cards.refund({ payment_intent: payee, idempotencyKey: key }).id
          const { refund } = account.refundInvoice(invoice.id, { idAtGateway: atGateway })
          const other = named === 'at the biller' ? atGateway : refund.id
          return { ref: named === 'at the biller' ? refund.id : atGateway, names: [other, nameByAmount(payee, amount)] }
        },
      }
    }
  const common = { weight: 3, records: ['refund', 'credit'] } as const
  return [
    {
      ...common,
      title: 'a refund through the gateway, reported with the id of the biller',
      connection: biller,
      prepare: prepare('at the biller'),
    },
    {
      ...common,
      title: 'a refund through the gateway, reported with the id of the gateway',
      connection: gateway,
      prepare: prepare('at the gateway'),
    },
  ]
}

function subscriptionKinds({ account }: Connected<'subscription'>, common: SharedFields): ChangeKind[] {
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
  const schedule: Change = id => account.scheduleCancel(id)
  return [
    {
      ...common,
      title: 'a cancellation at once',
      canLoseEvents: true,
      weight: 4,
      records: ['cancellation'],
      prepare: changeOfSubscription(id => account.cancel(id)),
    },
    {
      ...common,
      title: 'a cancellation for the end of the term',
      weight: 3,
      records: ['cancellation'],
      prepare: changeOfSubscription(schedule),
    },
    {
      ...common,
      title: 'a scheduled cancellation that takes effect',
      weight: 2,
      records: ['cancellation'],
      prepare: changeOfSubscription(schedule, id => account.endTerm(id)),
    },
    {
      ...common,
      title: 'a scheduled cancellation that is removed',
      weight: 2,
      records: ['cancellation', 'schedule_removal'],
      prepare: changeOfSubscription(schedule, id => account.removeScheduledCancel(id)),
    },
    {
      ...common,
      title: 'a pause and its end',
      weight: 2,
      records: ['pause', 'resume'],
      prepare: changeOfSubscription(
        id => account.pause(id),
        id => account.resume(id),
      ),
    },
    {
      ...common,
      title: 'a scheduled pause that is removed',
      weight: 2,
      records: ['pause', 'schedule_removal'],
      prepare: changeOfSubscription(
        id => account.schedulePause(id),
        id => account.removeScheduledPause(id),
      ),
    },
    {
      ...common,
      title: 'an end by dunning',
      weight: 2,
      records: ['cancellation'],
      isInvoluntary: true,
      prepare: changeOfSubscription(account.endDunning),
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
