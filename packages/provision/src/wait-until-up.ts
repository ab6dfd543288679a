import { setTimeout as pause } from 'node:timers/promises'
import { isRetryable } from '@backstop/kit/errors'
import type { Report } from './report.ts'

const ATTEMPT_EVERY_MS = 1_000

/**
 * Repeats `attempt` until it succeeds, because at a deploy all parts start at once.
 * @param deadline a time of performance.now()
 * @throws the last error of `attempt`, after the deadline or if the error is not retryable
 */
export async function waitUntilUp<T>(
  what: string,
  attempt: () => Promise<T>,
  deadline: number,
  report: Report,
): Promise<T> {
  for (let isReported = false; ; isReported = true) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error) || performance.now() > deadline) throw error
      if (!isReported) report(`waiting for ${what}`)
      await pause(ATTEMPT_EVERY_MS)
    }
  }
}
