import type { DeliveryDocument } from '@backstop/contracts'

/** The fields of a delivery that decide whether it may be attempted again. */
export type RequeueFacts = Pick<
  DeliveryDocument,
  'state' | 'test' | 'attempts' | 'next_attempt' | 'requested_by' | 'ladder_from' | 'project_id'
>

/** The decision about a request to attempt a delivery now. */
export type RequeueDecision =
  | {
      kind: 'requeue'
      reason: 'brought_forward' | 'ladder_begins_anew' | 'overdue'
      attempt: number
      /** The recorded next attempt; null for a dead delivery. */
      waitsFor: number | null
      /** The attempt on the first rung of the ladder, and the start of the ladder's 72 hours; null: now. */
      ladderFrom: { attempt: number; at: Date | null }
    }
  /**
   * The request is already recorded, or the attempt is due. The message may be lost, and a second message is harmless.
   */
  | { kind: 'produce_again'; reason: 'asked_before' | 'due_already'; attempt: number }
  | {
      kind: 'refuse'
      reason: 'unknown' | 'of_another_project' | 'delivered' | 'superseded' | 'a_test' | 'attempted_since_asked'
    }

export interface RequeueRequest {
  /** The id of the command or replay that makes the request. A repeated request has the same id. */
  readonly requestId: string
  readonly projectId: string
  /** An attempt that was due before this time is overdue: its message is probably lost. Absent for a request about one delivery. */
  readonly overdueBefore?: Date
}

/**
 * How long an attempt may be due before a replay considers its message lost, in milliseconds. A second message is harmless, so a longer
 * queue of the channel does no harm.
 */
const OVERDUE_MS = 300_000

/** Attempts that were due before this time are part of a replay requested at this time. */
export function overdueBefore(requestedAt: Date): Date {
  return new Date(requestedAt.getTime() - OVERDUE_MS)
}

/** Decides whether a requested attempt is made now, and under which number. */
export function decideRequeue(requested: RequeueRequest, delivery: RequeueFacts | undefined): RequeueDecision {
  if (delivery === undefined) return { kind: 'refuse', reason: 'unknown' }
  if (delivery.project_id !== requested.projectId) return { kind: 'refuse', reason: 'of_another_project' }
  const { state, next_attempt: next, attempts } = delivery
  if (delivery.test) return { kind: 'refuse', reason: 'a_test' }
  if (state === 'delivered' || state === 'superseded') return { kind: 'refuse', reason: state }
  const isDue = next?.topic === 'deliveries'
  if (delivery.requested_by === requested.requestId) {
    return isDue
      ? { kind: 'produce_again', reason: 'asked_before', attempt: next.attempt }
      : { kind: 'refuse', reason: 'attempted_since_asked' }
  }
  const ladder = delivery.ladder_from ?? { attempt: 1, at: attempts[0]?.at ?? null }
  if (isDue && requested.overdueBefore !== undefined && next.due_at < requested.overdueBefore) {
    return { kind: 'requeue', reason: 'overdue', attempt: next.attempt, waitsFor: next.attempt, ladderFrom: ladder }
  }
  if (isDue) return { kind: 'produce_again', reason: 'due_already', attempt: next.attempt }
  // The attempt number stays. The message on the delay line is recognised later by its number or its due time.
  if (next !== null) {
    // An attempt before its time uses up no rung (next-attempt.ts). The 72 hours do not start again.
    const { attempt } = next
    return { kind: 'requeue', reason: 'brought_forward', attempt, waitsFor: attempt, ladderFrom: ladder }
  }
  const attempt = (attempts.at(-1)?.attempt ?? 0) + 1
  return { kind: 'requeue', reason: 'ladder_begins_anew', attempt, waitsFor: null, ladderFrom: { attempt, at: null } }
}
