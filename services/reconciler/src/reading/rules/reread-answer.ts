import { deterministicId, isoTime, type Readback, type ReadObject, type Reread } from '@backstop/contracts'
import type { ReadFailure, ReadResult } from '@backstop/providers'

/** The result of asking the provider, or the reason why this connection cannot be asked. */
export type AskResult = ReadResult | { readonly kind: 'cannot_ask'; readonly text: string }

/** The next step of a re-read: answered, or asked again. */
export type RereadOutcome =
  | { readonly kind: 'answered'; readonly reason: 'read' | 'not_found' | 'unanswered'; readonly readback: Readback }
  /** The provider is asked again at `dueAt`. */
  | { readonly kind: 'again'; readonly reason: ReadFailure; readonly reread: Reread; readonly dueAt: number }

/** How long a failed re-read waits: the delay of the topic rereads.retry. */
export const RETRY_DELAY_MS = 30_000
/** How long hints are re-read, in milliseconds, before an incident says that the provider cannot be asked. */
export const VERIFY_WITHIN_MS = 15 * 60_000

/**
 * Decides the next step after a provider was asked. A hint, and a verdict on the biller's objects, need the provider's
 * data, so their re-reads are repeated for longer. Any other look gets the answer `unavailable` at once, and its case
 * schedules further questions.
 * @param askedAt when the question was sent, in milliseconds since the epoch. An event that arrives after it is newer
 * than the answer.
 * @param now milliseconds since the epoch
 */
export function decideRereadOutcome(reread: Reread, asked: AskResult, askedAt: number, now: number): RereadOutcome {
  switch (asked.kind) {
    case 'read':
      return { kind: 'answered', reason: 'read', readback: readbackOf(reread, askedAt, 'read', asked.objects) }
    case 'not_found':
      return { kind: 'answered', reason: 'not_found', readback: readbackOf(reread, askedAt, 'not_found', []) }
    case 'cannot_ask':
      return { kind: 'answered', reason: 'unanswered', readback: unavailableReadback(reread, askedAt, asked.text) }
    case 'failed': {
      if (hasEnded(reread, now)) {
        return { kind: 'answered', reason: 'unanswered', readback: unavailableReadback(reread, askedAt, asked.text) }
      }
      // The delay is fixed. If the provider asked for a longer wait, it fails again with the next attempt.
      const dueAt = now + RETRY_DELAY_MS
      return { kind: 'again', reason: asked.failure, reread: { ...reread, attempt: reread.attempt + 1 }, dueAt }
    }
    default:
      return asked satisfies never
  }
}

function hasEnded({ provider, reason, first_requested_at }: Reread, now: number): boolean {
  const needsData = provider === 'subscription' || reason === 'hint'
  return !needsData || now - Date.parse(first_requested_at) >= VERIFY_WITHIN_MS
}

/** The longest time for one question including its retries, in milliseconds. */
const READ_WITHIN_MS = 10_000
/** The time from the provider's answer to its use, in milliseconds. */
const ANSWER_TRANSIT_MS = 250
/**
 * If less time than this is left before the deadline of the look, the deadline is ignored: the answer then serves the
 * time after the look.
 */
const MIN_READ_MS = 500

/**
 * How long one question may take, in milliseconds. It ends before its look is judged without an answer, if that time
 * has not passed.
 */
export function timeToRead({ answer_by }: Reread, now: number): number {
  const leftMs = answer_by === undefined ? 0 : Date.parse(answer_by) - ANSWER_TRANSIT_MS - now
  return leftMs < MIN_READ_MS ? READ_WITHIN_MS : Math.min(leftMs, READ_WITHIN_MS)
}

function unavailableReadback(reread: Reread, askedAt: number, text: string): Readback {
  return { ...readbackOf(reread, askedAt, 'unavailable', []), failure: text }
}

function readbackOf(
  reread: Reread,
  askedAt: number,
  outcome: Readback['outcome'],
  objects: readonly ReadObject[],
): Readback {
  const { project_id, connection_id, provider, reason, event, look, targets } = reread
  return {
    readback_id: deterministicId('readback', reread.reread_id, String(reread.attempt)),
    project_id,
    connection_id,
    provider,
    reason,
    event,
    look,
    targets,
    read_at: isoTime(askedAt),
    outcome,
    failure: null,
    objects: [...objects],
  }
}
