import { deterministicId, isoTime, type Readback, type ReadObject, type Reread } from '@backstop/contracts'
import type { ReadFailure, ReadResult } from '@backstop/providers'

/** What the asking gave: what the provider answered, or that this connection cannot be asked at all. */
export type Asked = ReadResult | { readonly kind: 'cannot_ask'; readonly text: string }

/** What becomes of a re-read. */
export type Answer =
  | { readonly kind: 'answered'; readonly reason: 'read' | 'not_found' | 'unanswered'; readonly readback: Readback }
  /** It is asked again once `dueAt` has come. */
  | { readonly kind: 'again'; readonly reason: ReadFailure; readonly reread: Reread; readonly dueAt: number }

/** How long a failed asking waits: the delay of the topic rereads.retry. */
export const RETRY_DELAY_MS = 30_000
/** What rests on a re-read alone is asked for this long before people are told that it cannot be had. */
export const VERIFY_WITHIN_MS = 15 * 60_000

/**
 * Decides what becomes of one asking. A verdict on a subscription rests on the provider's own data alone, so such a re-read
 * is asked for longer. Any other look learns at once that there is no answer: the case keeps when it asks again.
 * @param askedAt when the asking began, in milliseconds since the epoch: what an event tells meanwhile is newer
 * @param now milliseconds since the epoch
 */
export function answerReread(reread: Reread, asked: Asked, askedAt: number, now: number): Answer {
  switch (asked.kind) {
    case 'read':
      return { kind: 'answered', reason: 'read', readback: readbackOf(reread, askedAt, 'read', asked.objects) }
    case 'not_found':
      return { kind: 'answered', reason: 'not_found', readback: readbackOf(reread, askedAt, 'not_found', []) }
    case 'cannot_ask':
      return { kind: 'answered', reason: 'unanswered', readback: unavailable(reread, askedAt, asked.text) }
    case 'failed': {
      if (hasEnded(reread, now)) {
        return { kind: 'answered', reason: 'unanswered', readback: unavailable(reread, askedAt, asked.text) }
      }
      // The delay line's delay is fixed; a provider that asks for more is asked again and says so again.
      const dueAt = now + RETRY_DELAY_MS
      return { kind: 'again', reason: asked.failure, reread: { ...reread, attempt: reread.attempt + 1 }, dueAt }
    }
    default:
      return asked satisfies never
  }
}

function hasEnded({ provider, first_requested_at }: Reread, now: number): boolean {
  return provider !== 'subscription' || now - Date.parse(first_requested_at) >= VERIFY_WITHIN_MS
}

/** Longest that one asking takes, with its retries, in milliseconds. */
const READ_WITHIN_MS = 10_000
/** The time from the provider's answer to its use, in milliseconds. */
const ANSWER_TRAVELS_MS = 250
/** Too short to find out anything in: an asking that comes so late serves the time after the look. */
const LEAST_READ_MS = 500

/** How long one asking may take, in milliseconds: until its look is judged without it, if that time is still to come. */
export function timeToRead({ answer_by }: Reread, now: number): number {
  const leftMs = answer_by === undefined ? 0 : Date.parse(answer_by) - ANSWER_TRAVELS_MS - now
  return leftMs < LEAST_READ_MS ? READ_WITHIN_MS : Math.min(leftMs, READ_WITHIN_MS)
}

function unavailable(reread: Reread, askedAt: number, text: string): Readback {
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
