import type { DeliveryProgress } from '../../store/delivery-store.ts'

/**
 * What to do with a message that asks for an attempt. Kafka delivers a message again whenever its offset was not
 * committed, so what the document says decides, not that the message came.
 */
export type Intake =
  | { kind: 'attempt'; attempt: number; firstAttemptAtMs: number | null; ladderFromAttempt: number; reason: 'due' }
  /** The attempt was recorded, but a crash may have come before what follows from it was produced: produce it again. */
  | { kind: 'produce_retry_again'; attempt: number; dueAtMs: number; topic: string; reason: 'attempt_was_recorded' }
  | { kind: 'dead_letter_again'; reason: 'end_was_recorded' }
  | { kind: 'skip'; reason: 'already_delivered' | 'superseded' | 'stale_attempt' | 'attempted_before_its_time' }

/**
 * The clocks of the process that let a message go and of the one that attempted it may differ. Taking a message for
 * overtaken that is not would lose a retry; the other way round one is only asked for twice.
 */
const CLOCKS_MAY_DIFFER_MS = 15 * 60_000

/**
 * @param attempt the number that the message carries
 * @param dueAtMs when the delay line let the message go; null for one that never was on a delay line
 */
export function decideIntake(attempt: number, dueAtMs: number | null, progress: DeliveryProgress): Intake {
  if (progress.state === 'delivered') return { kind: 'skip', reason: 'already_delivered' }
  if (progress.state === 'superseded') return { kind: 'skip', reason: 'superseded' }
  const { next } = progress
  if (progress.state === 'dead' || next === null) {
    return attempt >= progress.lastAttempt
      ? { kind: 'dead_letter_again', reason: 'end_was_recorded' }
      : { kind: 'skip', reason: 'stale_attempt' }
  }
  // A person had it attempted before its time, so what follows went out then: this is the message that was overtaken.
  const attemptedAtMs = progress.lastAttemptAtMs ?? Number.POSITIVE_INFINITY
  const isOvertaken = attempt === progress.lastAttempt && (dueAtMs ?? 0) > attemptedAtMs + CLOCKS_MAY_DIFFER_MS
  if (isOvertaken) return { kind: 'skip', reason: 'attempted_before_its_time' }
  if (attempt === next.attempt - 1) return { kind: 'produce_retry_again', ...next, reason: 'attempt_was_recorded' }
  if (attempt < next.attempt) return { kind: 'skip', reason: 'stale_attempt' }
  // A number beyond the next one means that the document is older than the message (a restored backup): its own number
  // is taken, or else the result could never be recorded.
  const { firstAttemptAtMs, ladderFromAttempt } = progress
  return { kind: 'attempt', attempt: next.attempt, firstAttemptAtMs, ladderFromAttempt, reason: 'due' }
}
