/** The requests that refund or cancel at Stripe. */
import { amountAt, type CallOutcome, idAt, type ProviderCall, type Route, textAt } from './sdk.ts'

function refundOutcome(answer: unknown): CallOutcome {
  const status = textAt(answer, 'status')
  return {
    state: status === 'failed' || status === 'canceled' ? 'failed' : 'completed',
    providerRef: idAt(answer, 'id'),
  }
}

const completed = (): CallOutcome => ({ state: 'completed' })

function cancellationOf(subject: string | undefined): ProviderCall | undefined {
  return subject === undefined ? undefined : { kind: 'cancellation', subject }
}

/** The API takes `false` and the empty text as unset. */
function isSet(params: unknown, name: string): boolean {
  const value = textAt(params, name)
  return value !== undefined && value.toLowerCase() !== 'false'
}

/** True if the parameters of a subscription set its end. */
function setsEnd(params: unknown): boolean {
  return isSet(params, 'cancel_at_period_end') || isSet(params, 'cancel_at')
}

const endsWithSchedule = (schedule: unknown) => textAt(schedule, 'end_behavior') === 'cancel'

/** The subscription of a schedule that ends it. The subscription may begin later. */
function cancellationBySchedule(schedule: unknown): ProviderCall | undefined {
  return endsWithSchedule(schedule)
    ? cancellationOf(idAt(schedule, 'subscription') ?? textAt(schedule, 'id'))
    : undefined
}

const scheduleOutcome = (schedule: unknown): CallOutcome => ({
  state: 'completed',
  providerRef: idAt(schedule, 'subscription'),
})

function readRefund(_: string, params: unknown, answer?: unknown): ProviderCall | 'in_answer' | undefined {
  const subject = paymentAt(params) ?? textAt(params, 'customer') ?? paymentAt(answer)
  if (subject === undefined) return answer === undefined ? 'in_answer' : undefined
  return { kind: 'refund', subject, amount: amountAt(params, 'amount'), currency: textAt(params, 'currency') }
}

function paymentAt(value: unknown): string | undefined {
  return idAt(value, 'payment_intent') ?? idAt(value, 'charge')
}

/** The charge is in the path. */
function readRefundOfCharge(charge: string, params: unknown): ProviderCall {
  return { kind: 'refund', subject: charge, amount: amountAt(params, 'amount') }
}

/** The refund that a credit note made: in `refunds`, or in `refund` before API version 2025-03-31. */
function refundOfNote(answer: unknown): string | undefined {
  return idAt(answer, 'refunds.0.refund') ?? idAt(answer, 'refund')
}

/** The API ignores idempotency keys of a DELETE. */
const cancelSubscription = (path: RegExp): Route => ({
  name: 'subscriptions.cancel',
  verb: 'DELETE',
  path,
  read: id => cancellationOf(id),
  readOutcome: completed,
  idempotentBy: 'path',
})

const updateSubscription = (path: RegExp): Route => ({
  name: 'subscriptions.update',
  verb: 'POST',
  path,
  read: (id, params) => (setsEnd(params) ? cancellationOf(id) : undefined),
  readOutcome: completed,
  idempotentBy: 'key',
})

const createSubscription = (path: RegExp): Route => ({
  name: 'subscriptions.create',
  verb: 'POST',
  path,
  read: (_, params, answer) =>
    setsEnd(params) ? (answer === undefined ? 'in_answer' : cancellationOf(textAt(answer, 'id'))) : undefined,
  readOutcome: completed,
  idempotentBy: 'key',
})

export const stripeRoutes: readonly Route[] = [
  {
    name: 'refunds.create',
    verb: 'POST',
    path: /^\/v1\/refunds$/,
    read: readRefund,
    readOutcome: refundOutcome,
    idempotentBy: 'key',
  },
  {
    name: 'charges.refunds.create',
    verb: 'POST',
    path: /^\/v1\/charges\/([^/]+)\/refunds$/,
    read: readRefundOfCharge,
    readOutcome: refundOutcome,
    idempotentBy: 'key',
  },
  {
    // The oldest way to refund: it answers with the charge, whose newest refund is the first.
    name: 'charges.refund',
    verb: 'POST',
    path: /^\/v1\/charges\/([^/]+)\/refund$/,
    read: readRefundOfCharge,
    readOutcome: charge => ({ state: 'completed', providerRef: idAt(charge, 'refunds.data.0') }),
    idempotentBy: 'key',
  },
  {
    // A credit note may make a refund. Only its answer names the refund, and no event of the refund names the invoice.
    name: 'creditNotes.create',
    verb: 'POST',
    path: /^\/v1\/credit_notes$/,
    read(_, params, answer) {
      const amount = amountAt(params, 'refund_amount')
      if (amount === undefined || amount === 0) return undefined
      if (answer === undefined) return 'in_answer'
      const subject = refundOfNote(answer)
      return subject === undefined
        ? undefined
        : { kind: 'refund', subject, amount, currency: textAt(answer, 'currency') }
    },
    readOutcome: answer => ({ state: 'completed', providerRef: refundOfNote(answer) }),
    idempotentBy: 'key',
  },
  {
    // An authorization that is released counts as refunded. A payment that was never authorized has no charge.
    name: 'paymentIntents.cancel',
    verb: 'POST',
    path: /^\/v1\/payment_intents\/([^/]+)\/cancel$/,
    read(id, _, answer) {
      if (answer === undefined) return 'in_answer'
      return idAt(answer, 'latest_charge') === undefined ? undefined : { kind: 'refund', subject: id }
    },
    readOutcome: completed,
    idempotentBy: 'key',
  },
  {
    name: 'terminal.readers.refundPayment',
    verb: 'POST',
    path: /^\/v1\/terminal\/readers\/([^/]+)\/refund_payment$/,
    read(_, params) {
      const subject = paymentAt(params)
      return subject === undefined ? undefined : { kind: 'refund', subject, amount: amountAt(params, 'amount') }
    },
    readOutcome: answer => ({ state: 'completed', providerRef: idAt(answer, 'action.refund_payment.refund') }),
    idempotentBy: 'key',
  },
  cancelSubscription(/^\/v1\/subscriptions\/([^/]+)$/),
  cancelSubscription(/^\/v1\/customers\/[^/]+\/subscriptions\/([^/]+)$/),
  updateSubscription(/^\/v1\/subscriptions\/([^/]+)$/),
  updateSubscription(/^\/v1\/customers\/[^/]+\/subscriptions\/([^/]+)$/),
  createSubscription(/^\/v1\/subscriptions$/),
  createSubscription(/^\/v1\/customers\/[^/]+\/subscriptions$/),
  {
    name: 'subscriptionSchedules.create',
    verb: 'POST',
    path: /^\/v1\/subscription_schedules$/,
    read: (_, _params, answer) => (answer === undefined ? 'in_answer' : cancellationBySchedule(answer)),
    readOutcome: scheduleOutcome,
    idempotentBy: 'key',
  },
  {
    name: 'subscriptionSchedules.update',
    verb: 'POST',
    path: /^\/v1\/subscription_schedules\/([^/]+)$/,
    read(_, params, answer) {
      const hasPhases = Object.keys(Object(params)).some(name => name.startsWith('phases['))
      if (!hasPhases && !endsWithSchedule(params)) return undefined
      return answer === undefined ? 'in_answer' : cancellationBySchedule(answer)
    },
    readOutcome: scheduleOutcome,
    idempotentBy: 'key',
  },
  {
    name: 'subscriptionSchedules.cancel',
    verb: 'POST',
    path: /^\/v1\/subscription_schedules\/([^/]+)\/cancel$/,
    read: id => cancellationOf(id),
    readOutcome: scheduleOutcome,
    idempotentBy: 'key',
  },
]
