import { ApiProblem, NoAnswer } from './api-problem.ts'

const FIRST_WAIT_MS = 250
const LONGEST_WAIT_MS = 10_000

/**
 * The wait before the next attempt in milliseconds; undefined if the call must not be repeated.
 * @param attempt the number of the failed attempt, from 1
 * @param chance from 0 to 1; spreads the retries of many callers
 */
export function retryWait(error: unknown, method: string, attempt: number, chance: number): number | undefined {
  if (!isWorthRepeating(error, method)) return undefined
  const backoffMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempt - 1)) * (0.5 + chance / 2)
  const askedMs = error instanceof ApiProblem ? error.retryAfterMs : undefined
  return Math.max(backoffMs, askedMs ?? 0)
}

/**
 * A GET, and a POST with its Idempotency-Key, may be repeated after any failure that may pass. A PATCH or DELETE may have been executed
 * although its answer was lost, and its repeat would then be refused; so it is repeated only if it was certainly not executed.
 */
function isWorthRepeating(error: unknown, method: string): boolean {
  const isSafe = method === 'GET' || method === 'POST'
  if (error instanceof NoAnswer) return isSafe
  if (!(error instanceof ApiProblem)) return false
  if (error.status === 429) return true
  // A conflict with Retry-After is a request with the same Idempotency-Key that has not ended yet.
  const mayPass = error.status >= 500 || (error.status === 409 && error.retryAfterMs !== undefined)
  return isSafe && mayPass
}

/** Waits. @throws the reason of the signal if it is aborted */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
