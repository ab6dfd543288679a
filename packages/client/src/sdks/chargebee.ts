import { amountAt, type Idempotency, type Outcome, type Sdk, textAt, valueAt, type WatchedMethod } from './sdk.ts'

const HEADER = 'chargebee-idempotency-key'

/** The arguments of every watched method are the id, the parameters and the headers. */
const keyInHeaders: Idempotency = {
  keyOf: ([, , headers]) => textAt(headers, HEADER),
  withKey: ([id, params, headers, ...more], key) => [id, params, { ...Object(headers), [HEADER]: key }, ...more],
}

/** @param amountPath where the parameters have the amount */
const refund = (path: string, amountPath: string): WatchedMethod => ({
  path,
  read: ([id, params]) =>
    typeof id === 'string' ? { kind: 'refund', subject: id, amount: amountAt(params, amountPath) } : undefined,
  readOutcome: refundOutcome,
  idempotency: keyInHeaders,
})

const FAILED = new Set(['failure', 'timeout', 'late_failure', 'voided'])

function refundOutcome(answer: unknown): Outcome {
  const hasFailed = FAILED.has(textAt(answer, 'transaction.status') ?? '')
  const providerRef = textAt(answer, 'transaction.id') ?? textAt(answer, 'credit_note.id')
  return { state: hasFailed ? 'failed' : 'completed', providerRef }
}

const cancellation = (path: string): WatchedMethod => ({
  path,
  read: ([id]) => (typeof id === 'string' ? { kind: 'cancellation', subject: id } : undefined),
  readOutcome: () => ({ state: 'completed' }),
  idempotency: keyInHeaders,
})

/** `chargebee`, version 3 or newer. */
export const chargebeeSdk: Sdk = {
  name: 'chargebee',
  // Clients of version 2 are configured globally and answer with requests instead of promises.
  recognises: client => typeof valueAt(client, 'creditNote.refund') === 'function' && !('configure' in client),
  methods: [
    refund('invoice.refund', 'refund_amount'),
    refund('invoice.recordRefund', 'transaction.amount'),
    refund('creditNote.refund', 'refund_amount'),
    refund('creditNote.recordRefund', 'transaction.amount'),
    refund('transaction.refund', 'amount'),
    refund('transaction.recordRefund', 'amount'),
    cancellation('subscription.cancel'),
    cancellation('subscription.cancelForItems'),
    cancellation('subscription.delete'),
  ],
}
