/** What is recorded of a delivery so far. */
export interface DeliveryProgress {
  readonly state: 'pending' | 'delivered' | 'retrying' | 'dead' | 'superseded'
  readonly reason: string
  /** When its first attempt began; null before. */
  readonly firstAttemptAtMs: number | null
  /** How many attempts are recorded. */
  readonly lastAttempt: number
  readonly next: { readonly attempt: number; readonly dueAtMs: number; readonly topic: string } | null
}

/**
 * What to do with a message that asks for an attempt. Kafka delivers a message again whenever its offset was not
 * committed, so what the document says decides, not that the message came.
 */
export type Intake =
  | { kind: 'attempt'; attempt: number; firstAttemptAtMs: number | null; reason: 'due' }
  /** The attempt was recorded, but a crash may have come before what follows from it was produced: produce it again. */
  | { kind: 'produce_retry_again'; attempt: number; dueAtMs: number; topic: string; reason: 'attempt_was_recorded' }
  | { kind: 'park_again'; reason: 'end_was_recorded' }
  | { kind: 'skip'; reason: 'already_delivered' | 'superseded' | 'stale_attempt' }

/** @param attempt the number that the message carries */
export function decideIntake(attempt: number, progress: DeliveryProgress): Intake {
  if (progress.state === 'delivered') return { kind: 'skip', reason: 'already_delivered' }
  if (progress.state === 'superseded') return { kind: 'skip', reason: 'superseded' }
  const { next } = progress
  if (progress.state === 'dead' || next === null) {
    return attempt >= progress.lastAttempt
      ? { kind: 'park_again', reason: 'end_was_recorded' }
      : { kind: 'skip', reason: 'stale_attempt' }
  }
  if (attempt === next.attempt - 1) return { kind: 'produce_retry_again', ...next, reason: 'attempt_was_recorded' }
  if (attempt < next.attempt) return { kind: 'skip', reason: 'stale_attempt' }
  // A number beyond the next one means that the document is older than the message (a restored backup): its own number
  // is taken, or else the result could never be recorded.
  return { kind: 'attempt', attempt: next.attempt, firstAttemptAtMs: progress.firstAttemptAtMs, reason: 'due' }
}
