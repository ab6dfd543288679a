import type { DeliveryProgress } from '../../delivery-record/delivery-store.ts'

/**
 * How to handle a message that requests an attempt. Kafka delivers a message again if its offset was not committed, so
 * the recorded progress decides.
 */
export type IntakeDecision =
  | { kind: 'attempt'; attempt: number; reason: 'due' }
  /**
   * The attempt is recorded, but the process may have crashed before it produced the next message: produce it again.
   */
  | { kind: 'produce_retry_again'; attempt: number; dueAtMs: number; topic: string; reason: 'attempt_was_recorded' }
  | { kind: 'dead_letter_again'; reason: 'end_was_recorded' }
  | { kind: 'skip'; reason: 'already_delivered' | 'superseded' | 'stale_attempt' | 'attempted_before_its_time' }

/**
 * Allowed difference between the clocks of the process that released a message and the process that attempted it. If
 * the tolerance is too small, a retry is lost; if it is too large, an attempt is only requested twice.
 */
const CLOCKS_MAY_DIFFER_MS = 15 * 60_000

/**
 * @param attempt the attempt number in the message
 * @param dueAtMs when the delay line released the message; null if it came from no delay line
 */
export function decideIntake(attempt: number, dueAtMs: number | null, progress: DeliveryProgress): IntakeDecision {
  if (progress.state === 'delivered') return { kind: 'skip', reason: 'already_delivered' }
  if (progress.state === 'superseded') return { kind: 'skip', reason: 'superseded' }
  const { next } = progress
  if (progress.state === 'dead' || next === null) {
    return attempt >= progress.lastAttempt
      ? { kind: 'dead_letter_again', reason: 'end_was_recorded' }
      : { kind: 'skip', reason: 'stale_attempt' }
  }
  // A person requested the attempt before its due time, and the next message was produced then. This is the delayed
  // message of the same attempt.
  const attemptedAtMs = progress.lastAttemptAtMs ?? Number.POSITIVE_INFINITY
  const isOvertaken = attempt === progress.lastAttempt && (dueAtMs ?? 0) > attemptedAtMs + CLOCKS_MAY_DIFFER_MS
  if (isOvertaken) return { kind: 'skip', reason: 'attempted_before_its_time' }
  if (attempt === next.attempt - 1) return { kind: 'produce_retry_again', ...next, reason: 'attempt_was_recorded' }
  if (attempt < next.attempt) return { kind: 'skip', reason: 'stale_attempt' }
  // The document is older than the message if the message's number is larger than the next attempt's (a restored
  // backup). The document's number is used, because an outcome with any other number cannot be recorded.
  return { kind: 'attempt', attempt: next.attempt, reason: 'due' }
}
