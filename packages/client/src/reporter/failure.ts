import { textAt, valueAt } from '../sdks/sdk.ts'

/** Statuses of temporary failures. After any of them the same call may still succeed, or may have succeeded. */
const TEMPORARY = new Set([408, 409, 425, 429])

/** What a failed call of a provider's library says about the refund or cancellation. */
export interface Failure {
  /** True if the provider refused the call, so that a repeat would fail too. Otherwise it may have been executed. */
  readonly isRefusal: boolean
  readonly reason: string
}

/** Reads the error of a library: Stripe and Chargebee give the HTTP status, Paddle the type of the error. */
export function readFailure(error: unknown): Failure {
  const status = ['statusCode', 'http_status_code', 'status'].map(name => valueAt(error, name)).find(Number.isInteger)
  const isRefusal =
    typeof status === 'number'
      ? status >= 400 && status < 500 && !TEMPORARY.has(status)
      : textAt(error, 'type') === 'request_error' && textAt(error, 'code') !== 'too_many_requests'
  return { isRefusal, reason: (textAt(error, 'message') ?? String(error)).slice(0, 500) }
}
