/** Statuses of temporary failures. After any of them the same call may still succeed, or may have succeeded. */
const TEMPORARY = new Set([408, 409, 425, 429])

/** What a failed request says about the refund or cancellation. */
export interface Failure {
  /** True if the provider refused the request, so that a repeat would fail too. Otherwise it may have been executed. */
  readonly isRefusal: boolean
  readonly reason: string
}

/** The failure of a request that was answered with an error. */
export function failureOfAnswer(status: number, message: string | undefined): Failure {
  return { isRefusal: isRefused(status), reason: (message ?? `HTTP ${status}`).slice(0, 500) }
}

/** The failure of a request without a readable answer. */
export function failureOfError(error: unknown): Failure {
  return { isRefusal: false, reason: (error instanceof Error ? error.message : String(error)).slice(0, 500) }
}

export function isRefused(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status)
}
