import { ERROR_CODES, type ErrorCode } from '@backstop/contracts'

/**
 * The one error that our code throws on purpose. What is not an AppError is a fault of ours: it is logged whole and
 * answered as `internal`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  /** Whether the same call may succeed later. Never assumed: an unknown error is not retried. */
  readonly retryable: boolean
  /** Facts for the log line: ids and counts, never a secret or a payload. */
  readonly details: Readonly<Record<string, unknown>>

  /** @param message sentence case, no full stop; names the thing and the likely remedy */
  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.retryable = options.retryable ?? false
    this.details = options.details ?? {}
  }

  get status(): number {
    return ERROR_CODES[this.code].status
  }
}

/** A dependency does not answer: a consumer pauses its partition and tries again, and a caller gets 503. */
export function unavailable(what: string, cause: unknown): AppError {
  return new AppError('unavailable', `${what} is unavailable`, { cause, retryable: true })
}

/**
 * Other writers won every time: the work may succeed later, and no dependency is at fault.
 * @param what they wrote, in the middle of a sentence: "operation op_1"
 */
export function lostRace(what: string): AppError {
  return new AppError('conflict', `Another writer changed ${what} at the same time; retry later`, { retryable: true })
}

/** Whether the same call may succeed later. */
export function isRetryable(error: unknown): error is AppError {
  return error instanceof AppError && error.retryable
}
