import { type QuietHours, quietUntil } from '@backstop/contracts'

/** What quiet hours mean for a delivery whose message arrived. */
export type QuietDecision =
  | { readonly kind: 'hold'; readonly untilMs: number; readonly reason: 'quiet_hours' }
  /** The delivery was held. It is sent in one digest with the others of its group. */
  | {
      readonly kind: 'gather'
      readonly group: string
      readonly notBeforeMs: number
      readonly reason: 'quiet_hours_ended'
    }
  | { readonly kind: 'free'; readonly reason: 'no_quiet_hours' | 'due_outside' }

/**
 * Messages of held deliveries return from the shortest delay line within five seconds after the quiet hours. The digest waits a little
 * longer, so that it reports all of them. The repeat of a failed digest waits as long for its missing deliveries.
 */
export const GATHER_MS = 7_000

/** True if quiet hours held a delivery when it was created. It is late on purpose, in retries after the quiet hours too. */
export function wasHeld(quietHours: QuietHours | null, createdAtMs: number): boolean {
  return quietUntil(createdAtMs, quietHours) !== null
}

/** @param dueAtMs when the attempt was due, as recorded */
export function decideQuietHold(quietHours: QuietHours | null, dueAtMs: number, nowMs: number): QuietDecision {
  if (quietHours === null) return { kind: 'free', reason: 'no_quiet_hours' }
  const untilMs = quietUntil(nowMs, quietHours)
  if (untilMs !== null) return { kind: 'hold', untilMs, reason: 'quiet_hours' }
  const endedMs = quietUntil(dueAtMs, quietHours)
  if (endedMs === null) return { kind: 'free', reason: 'due_outside' }
  return { kind: 'gather', group: `quiet ${endedMs}`, notBeforeMs: endedMs + GATHER_MS, reason: 'quiet_hours_ended' }
}
