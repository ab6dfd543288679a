import { ERROR_CODES, type ErrorCode } from '@backstop/contracts'

/**
 * The only error that our code throws on purpose. Any other error is a bug: it is logged with its stack and answered as
 * `internal`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  /** True if the same call may succeed later. False for an unknown error. */
  readonly retryable: boolean
  /** When the same call may succeed, in seconds from now; undefined if that is not known. */
  readonly retryAfterS: number | undefined
  /** Facts for the log line: ids and counts, never a secret or a payload. */
  readonly details: Readonly<Record<string, unknown>>

  /** @param message sentence case, no full stop; names the failed object and the likely remedy */
  constructor(
    code: ErrorCode,
    message: string,
    options: { cause?: unknown; retryable?: boolean; retryAfterS?: number; details?: Record<string, unknown> } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.retryable = options.retryable ?? false
    this.retryAfterS = options.retryAfterS
    this.details = options.details ?? {}
  }

  get status(): number {
    return ERROR_CODES[this.code].status
  }
}

/**
 * The error for a dependency that does not answer: a consumer pauses its partition and retries, and an HTTP client gets
 * 503.
 */
export function unavailable(what: string, cause: unknown): AppError {
  return new AppError('unavailable', `${what} is unavailable`, { cause, retryable: true })
}

/** The error for a right that a dependency's user lacks: the work waits as in an outage, and only an operator can end it. @param sentence says who may not do what */
export function missingRight(sentence: string, cause: unknown): AppError {
  return new AppError('unavailable', sentence, { cause, retryable: true, details: { missing_right: true } })
}

/** True if an operator must give a right, and nothing has failed. */
export function isMissingRight(error: unknown): error is AppError {
  return error instanceof AppError && error.details.missing_right === true
}

/**
 * The error after all retries lost to concurrent writers: the work may succeed later, and no dependency failed.
 * @param what the written object, for the middle of a sentence: "operation op_1"
 */
export function lostRace(what: string): AppError {
  return new AppError('conflict', `Another writer changed ${what} at the same time; retry later`, { retryable: true })
}

/** True if the same call may succeed later. */
export function isRetryable(error: unknown): error is AppError {
  return error instanceof AppError && error.retryable
}
