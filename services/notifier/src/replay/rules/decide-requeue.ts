import type { DeliveryDocument } from '@backstop/contracts'

/** What of a delivery decides whether it may be attempted again. */
export type RequeueFacts = Pick<
  DeliveryDocument,
  'state' | 'test' | 'attempts' | 'next_attempt' | 'requested_by' | 'ladder_from' | 'project_id'
>

/** What a wish to attempt a delivery now comes to. */
export type Requeue =
  | {
      kind: 'requeue'
      reason: 'brought_forward' | 'ladder_begins_anew'
      attempt: number
      /** The attempt that it waits for now; null for one that is dead. */
      waitsFor: number | null
      /** The attempt that stands on the ladder's first rung from now on, and from when its 72 hours count; null: from now. */
      ladderFrom: { attempt: number; at: Date | null }
    }
  /** The wish is on record, or the attempt is due anyway; its message may be lost: one more is harmless. */
  | { kind: 'produce_again'; reason: 'asked_before' | 'due_already'; attempt: number }
  | {
      kind: 'refuse'
      reason: 'unknown' | 'of_another_project' | 'delivered' | 'superseded' | 'a_test' | 'attempted_since_asked'
    }

export interface RequeueWish {
  /** Names the wish: a command or a replay. The same one asks only once. */
  readonly requestId: string
  readonly projectId: string
}

/** Whether, and under which number, a delivery is attempted now because somebody asked for it. */
export function decideRequeue(wish: RequeueWish, delivery: RequeueFacts | undefined): Requeue {
  if (delivery === undefined) return { kind: 'refuse', reason: 'unknown' }
  if (delivery.project_id !== wish.projectId) return { kind: 'refuse', reason: 'of_another_project' }
  const { state, next_attempt: next, attempts } = delivery
  if (delivery.test) return { kind: 'refuse', reason: 'a_test' }
  if (state === 'delivered' || state === 'superseded') return { kind: 'refuse', reason: state }
  const isDue = next?.topic === 'deliveries'
  if (delivery.requested_by === wish.requestId) {
    return isDue
      ? { kind: 'produce_again', reason: 'asked_before', attempt: next.attempt }
      : { kind: 'refuse', reason: 'attempted_since_asked' }
  }
  if (isDue) return { kind: 'produce_again', reason: 'due_already', attempt: next.attempt }
  // The number stays: the message on the delay line then comes too late and is told by its number or its due time.
  if (next !== null) {
    const { attempt: from, at } = delivery.ladder_from ?? { attempt: 1, at: attempts[0]?.at ?? null }
    // One rung lower, so that what a person has attempted beside the ladder uses up none of it; its 72 hours stay.
    const ladderFrom = { attempt: from + 1, at }
    return { kind: 'requeue', reason: 'brought_forward', attempt: next.attempt, waitsFor: next.attempt, ladderFrom }
  }
  const attempt = (attempts.at(-1)?.attempt ?? 0) + 1
  return { kind: 'requeue', reason: 'ladder_begins_anew', attempt, waitsFor: null, ladderFrom: { attempt, at: null } }
}
