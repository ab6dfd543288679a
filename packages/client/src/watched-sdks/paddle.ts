import {
  amountAt,
  type CallOutcome,
  type Failure,
  failureOfError,
  type ReportedRequest,
  type Route,
  type Sdk,
  type SentRequest,
  textAt,
  valueAt,
} from './sdk.ts'

/** What the status of an adjustment means. Refunds may wait for a review. */
const STATES: Readonly<Record<string, CallOutcome['state']>> = {
  pending_approval: 'awaiting_review',
  rejected: 'rejected',
}

const routes: readonly Route[] = [
  {
    name: 'adjustments.create',
    verb: 'POST',
    path: /^\/adjustments$/,
    read(_, params) {
      const subject = textAt(params, 'transaction_id')
      if (textAt(params, 'action') !== 'refund' || subject === undefined) return undefined
      return { kind: 'refund', subject, amount: amountOfItems(params) }
    },
    readOutcome: answer => ({
      state: STATES[textAt(answer, 'data.status') ?? ''] ?? 'completed',
      providerRef: textAt(answer, 'data.id'),
    }),
    idempotentBy: 'nothing',
  },
  {
    name: 'subscriptions.cancel',
    verb: 'POST',
    path: /^\/subscriptions\/([^/]+)\/cancel$/,
    read: subject => ({ kind: 'cancellation', subject }),
    readOutcome: () => ({ state: 'completed' }),
    idempotentBy: 'nothing',
  },
]

interface Client {
  post(path: string, body?: unknown, ...more: unknown[]): Promise<unknown>
}

/** `@paddle/paddle-node-sdk`. The API has no idempotency keys. */
export const paddleSdk: Sdk = {
  name: 'paddle',
  routes,
  recognises: client =>
    typeof valueAt(client, 'adjustments.create') === 'function' && typeof valueAt(client, 'client.post') === 'function',
  watchRequests(client, recorder) {
    const inner = valueAt(client, 'client') as Client
    const original = inner.post
    const post = (...args: Parameters<Client['post']>) => {
      const send = () => original.apply(inner, args)
      const [path, body] = args
      const reported = recorder.begin('POST', path, () => readBody(body))
      return reported === undefined ? send() : report(send, reported)
    }
    const own = Object.getOwnPropertyDescriptor(inner, 'post')
    Object.defineProperty(inner, 'post', { value: post, configurable: true, writable: true, enumerable: false })
    return () => {
      if (own === undefined) Reflect.deleteProperty(inner, 'post')
      else Object.defineProperty(inner, 'post', own)
    }
  },
}

/** Reads the body as it is sent. What the library cannot send is not reported. */
function readBody(body: unknown): SentRequest {
  return { params: toSnakeCase(JSON.parse(JSON.stringify(body ?? null))) }
}

async function report(send: () => Promise<unknown>, reported: ReportedRequest): Promise<unknown> {
  await reported.mayBeSent
  let answer: unknown
  try {
    answer = await send()
  } catch (error) {
    reported.fail(failureOfError(error))
    throw error
  }
  reported.tryToRead(() => {
    const error = valueAt(answer, 'error')
    if (error === undefined) reported.succeed(answer)
    else reported.fail(readFailure(error))
  })
  return answer
}

/** Older versions of the library do not show the status of an answer. */
function readFailure(error: unknown): Failure {
  const isRefusal = textAt(error, 'type') === 'request_error' && textAt(error, 'code') !== 'too_many_requests'
  return { isRefusal, reason: (textAt(error, 'detail') ?? textAt(error, 'code') ?? 'unknown error').slice(0, 500) }
}

/** Names fields as the API does. The library accepts `transactionId` and `transaction_id`, and sends the second. */
function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  const named = Object.entries(value).map(([name, inner]) => [
    name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase(),
    toSnakeCase(inner),
  ])
  return Object.fromEntries(named)
}

/** The sum of the items' amounts, if each item has one and the amounts include tax, as the refunded total does. */
function amountOfItems(params: unknown): number | undefined {
  const items = valueAt(params, 'items')
  if (!Array.isArray(items) || items.length === 0 || textAt(params, 'tax_mode') === 'external') return undefined
  const amounts = items.map(item => (textAt(item, 'type') === 'partial' ? amountAt(item, 'amount') : undefined))
  const sum = amounts.reduce<number>((total, amount) => total + (amount ?? Number.NaN), 0)
  return Number.isNaN(sum) ? undefined : sum
}
