import {
  amountAt,
  type Idempotency,
  idAt,
  type Outcome,
  type ProviderCall,
  type Sdk,
  textAt,
  valueAt,
  type WatchedMethod,
} from './sdk.ts'

/** Options that may stand in the place of the parameters, in older versions of the library. */
const OPTION_NAMES = /^(?:apiKey|apiVersion|host|idempotencyKey|maxNetworkRetries|stripeAccount|stripeContext|timeout)$/

/** @param paramsAt the position of the parameters; the options follow */
function keyInOptions(paramsAt: number): Idempotency {
  const optionsAt = paramsAt + 1
  return {
    keyOf: args => textAt(args[optionsAt], 'idempotencyKey') ?? textAt(args[paramsAt], 'idempotencyKey'),
    withKey(given, key) {
      // Up to version 17, the last argument may be a callback, and must stay the last.
      const callback = typeof given.at(-1) === 'function' ? given.slice(-1) : []
      const args = given.slice(0, given.length - callback.length)
      const names = Object.keys(args[paramsAt] ?? {})
      if (names.length > 0 && names.every(name => OPTION_NAMES.test(name))) return undefined
      const before = Array.from({ length: optionsAt }, (_, at) => (at === paramsAt ? (args[at] ?? {}) : args[at]))
      const options = { ...Object(args[optionsAt]), idempotencyKey: key }
      return [...before, options, ...args.slice(optionsAt + 1), ...callback]
    },
  }
}

function refundOutcome(answer: unknown, path = 'id'): Outcome {
  const status = textAt(answer, 'status')
  const hasFailed = status === 'failed' || (status === 'canceled' && textAt(answer, 'object') === 'refund')
  return { state: hasFailed ? 'failed' : 'completed', providerRef: idAt(answer, path) }
}

function cancellationOf(subject: string | undefined): ProviderCall | undefined {
  return subject === undefined ? undefined : { kind: 'cancellation', subject }
}

const completed = (): Outcome => ({ state: 'completed' })

/** True if the parameters of a subscription set its end. */
function setsEnd(params: unknown): boolean {
  const at = valueAt(params, 'cancel_at')
  return valueAt(params, 'cancel_at_period_end') === true || (at !== undefined && at !== null && at !== '')
}

const endsWithSchedule = (schedule: unknown) => textAt(schedule, 'end_behavior') === 'cancel'

/** An immediate cancellation. The API ignores idempotency keys of a DELETE. */
const cancelSubscription = (path: string): WatchedMethod => ({
  path,
  read: ([id]) => (typeof id === 'string' ? cancellationOf(id) : undefined),
  readOutcome: completed,
})

const methods: readonly WatchedMethod[] = [
  {
    path: 'refunds.create',
    read([params]) {
      const subject = textAt(params, 'payment_intent') ?? textAt(params, 'charge') ?? textAt(params, 'customer')
      if (subject === undefined) return undefined
      return { kind: 'refund', subject, amount: amountAt(params, 'amount'), currency: textAt(params, 'currency') }
    },
    readOutcome: answer => refundOutcome(answer),
    idempotency: keyInOptions(0),
  },
  {
    // A credit note may make a refund. Only its answer names the refund, and no event of the refund names the invoice.
    path: 'creditNotes.create',
    read([params], answer) {
      const amount = amountAt(params, 'refund_amount')
      const subject = refundOfNote(answer)
      return amount === undefined || amount === 0 || subject === undefined
        ? undefined
        : { kind: 'refund', subject, amount, currency: textAt(answer, 'currency') }
    },
    readOutcome: answer => ({ state: 'completed', providerRef: refundOfNote(answer) }),
    idempotency: keyInOptions(0),
  },
  {
    // An authorization that is released counts as refunded. A payment that was never authorized has no charge.
    path: 'paymentIntents.cancel',
    read: ([id], answer) =>
      typeof id === 'string' && idAt(answer, 'latest_charge') !== undefined
        ? { kind: 'refund', subject: id }
        : undefined,
    readOutcome: completed,
    idempotency: keyInOptions(1),
  },
  {
    path: 'terminal.readers.refundPayment',
    read([, params]) {
      const subject = textAt(params, 'payment_intent') ?? textAt(params, 'charge')
      return subject === undefined ? undefined : { kind: 'refund', subject, amount: amountAt(params, 'amount') }
    },
    readOutcome: answer => ({ state: 'completed', providerRef: idAt(answer, 'action.refund_payment.refund') }),
    idempotency: keyInOptions(1),
  },
  cancelSubscription('subscriptions.cancel'),
  cancelSubscription('subscriptions.del'),
  {
    path: 'subscriptions.update',
    read: ([id, params]) => (typeof id === 'string' && setsEnd(params) ? cancellationOf(id) : undefined),
    readOutcome: completed,
    idempotency: keyInOptions(1),
  },
  {
    path: 'subscriptions.create',
    read: ([params], answer) => (setsEnd(params) ? cancellationOf(textAt(answer, 'id')) : undefined),
    readOutcome: completed,
    idempotency: keyInOptions(0),
  },
  {
    path: 'subscriptionSchedules.create',
    read: (_, answer) =>
      endsWithSchedule(answer) ? cancellationOf(idAt(answer, 'subscription') ?? textAt(answer, 'id')) : undefined,
    readOutcome: answer => ({ state: 'completed', providerRef: idAt(answer, 'subscription') }),
    idempotency: keyInOptions(0),
  },
  {
    path: 'subscriptionSchedules.update',
    read([, params], answer) {
      const movesEnd = endsWithSchedule(params) || valueAt(params, 'phases') !== undefined
      return movesEnd && endsWithSchedule(answer)
        ? cancellationOf(idAt(answer, 'subscription') ?? textAt(answer, 'id'))
        : undefined
    },
    readOutcome: answer => ({ state: 'completed', providerRef: idAt(answer, 'subscription') }),
    idempotency: keyInOptions(1),
  },
  {
    path: 'subscriptionSchedules.cancel',
    read: ([id]) => (typeof id === 'string' ? cancellationOf(id) : undefined),
    readOutcome: answer => ({ state: 'completed', providerRef: idAt(answer, 'subscription') }),
    idempotency: keyInOptions(1),
  },
]

/** The refund that a credit note made: in `refunds`, or in `refund` before API version 2025-03-31. */
function refundOfNote(answer: unknown): string | undefined {
  return idAt(answer, 'refunds.0.refund') ?? idAt(answer, 'refund')
}

/** The calls of the methods, for `rawRequest`. A group is the first argument of the method. */
const RAW_CALLS: readonly (readonly [method: string, path: RegExp, watched: string])[] = [
  ['POST', /^\/v1\/refunds$/, 'refunds.create'],
  ['POST', /^\/v1\/credit_notes$/, 'creditNotes.create'],
  ['POST', /^\/v1\/payment_intents\/([^/]+)\/cancel$/, 'paymentIntents.cancel'],
  ['POST', /^\/v1\/terminal\/readers\/([^/]+)\/refund_payment$/, 'terminal.readers.refundPayment'],
  ['DELETE', /^\/v1\/subscriptions\/([^/]+)$/, 'subscriptions.cancel'],
  ['POST', /^\/v1\/subscriptions\/([^/]+)$/, 'subscriptions.update'],
  ['POST', /^\/v1\/subscriptions$/, 'subscriptions.create'],
  ['POST', /^\/v1\/subscription_schedules$/, 'subscriptionSchedules.create'],
  ['POST', /^\/v1\/subscription_schedules\/([^/]+)\/cancel$/, 'subscriptionSchedules.cancel'],
  ['POST', /^\/v1\/subscription_schedules\/([^/]+)$/, 'subscriptionSchedules.update'],
]

/** The method that makes the same call as a raw request, with its arguments. */
function findRaw([method, path, params]: readonly unknown[]): { of: WatchedMethod; args: unknown[] } | undefined {
  const [pathname = ''] = String(path).split('?')
  for (const [verb, pattern, watched] of RAW_CALLS) {
    const match = verb === String(method).toUpperCase() ? pattern.exec(pathname) : null
    const of = methods.find(known => known.path === watched)
    if (match !== null && of !== undefined) return { of, args: [...match.slice(1).map(decodeURIComponent), params] }
  }
  return undefined
}

const rawRequest: WatchedMethod = {
  path: 'rawRequest',
  read(args, answer) {
    const found = findRaw(args)
    return found?.of.read(found.args, answer)
  },
  readOutcome: answer => refundOutcome(answer, textAt(answer, 'object') === 'refund' ? 'id' : 'none'),
  idempotency: {
    keyOf: args => keyInOptions(2).keyOf(args),
    withKey: (args, key) =>
      findRaw(args)?.of.idempotency === undefined ? undefined : keyInOptions(2).withKey(args, key),
  },
}

/** `stripe` */
export const stripeSdk: Sdk = {
  name: 'stripe',
  recognises: client => typeof valueAt(client, 'refunds.create') === 'function',
  methods: [...methods, rawRequest],
}
