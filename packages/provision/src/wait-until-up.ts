import { setTimeout as pause } from 'node:timers/promises'
import { isRetryable } from '@backstop/kit'
import type { Report } from './report.ts'

const ATTEMPT_EVERY_MS = 1_000

/**
 * Tries until `attempt` succeeds: at a deploy everything starts at once, in any order.
 * @param deadline as of performance.now()
 * @throws what `attempt` threw last, when the deadline has passed, or at once when it is not worth a retry
 */
export async function waitUntilUp<T>(
  what: string,
  attempt: () => Promise<T>,
  deadline: number,
  report: Report,
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRetryable(error) || performance.now() > deadline) throw error
      if (!told) report(`waiting for ${what}`)
      await pause(ATTEMPT_EVERY_MS)
    }
  }
}
