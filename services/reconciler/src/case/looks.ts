import type { ActionRecord, Case, Look } from './case.ts'
import { isSigned } from './whom-to-ask.ts'

/** A look this long past its time was not just slow: its message is lost. */
const OVERDUE_AFTER_MS = 5 * 60_000
/** An answer about an operation this late was lost, or never given: the provider is asked again. */
const ASK_AGAIN_AFTER_MS = 5 * 60_000
/** The same for what rests on hints, which the reread consumer asks for during 15 minutes. */
const ASK_AGAIN_FOR_HINTS_MS = 20 * 60_000
/**
 * A signed action is judged without the provider's answer this long after its look was due: the alert has to be sent within
 * five seconds of that time.
 */
export const ANSWER_WITHIN_MS = 4_000
/** The least time that the provider has where the look itself came late. */
const LEAST_TIME_TO_ANSWER_MS = 2_000
/** When the message that ends the wait counts as lost. */
const UNANSWERED_LOST_AFTER_MS = 20_000

/** A look that a case still waits for. */
export interface PendingLook {
  /** As its recheck names it. */
  readonly lookId: string
  readonly dueAt: number
  readonly askedAt: number | null
  readonly of: 'action' | 'step' | 'operation' | 'decision' | 'late_reading'
  /** When it is to be asked for again, if nothing has come of it by then. */
  readonly wakeAt: number
}

/** The looks that a case still waits for, so that a slow sweep finds those whose message was lost. */
export function pendingLooks(theCase: Case): readonly PendingLook[] {
  const actions = theCase.actions.flatMap(action =>
    action.verdict === 'pending'
      ? pending('action', action.id, action.look, isSigned(action))
      : pendingLateReading(action),
  )
  const steps = theCase.refundTotals.flatMap(total => pending('step', total.id, total.look, isSigned(total)))
  const operations = theCase.followedOperations.flatMap(({ operationId, look }) =>
    look === null ? [] : pending('operation', operationLookId(look.why, operationId), look, true),
  )
  return [...actions, ...steps, ...operations, ...theCase.actions.flatMap(decisionOf)]
}

/** When it is decided again whether an operation that agrees with an alerted action explains it. No provider is asked. */
function decisionOf({ id, decideAgainAt }: ActionRecord): PendingLook[] {
  if (decideAgainAt == null) return []
  return [{ lookId: `decision/${id}`, dueAt: decideAgainAt, askedAt: null, of: 'decision', wakeAt: decideAgainAt }]
}

export function operationLookId(why: string, operationId: string): string {
  return `${why}/${operationId}`
}

function pending(of: PendingLook['of'], lookId: string, look: Look | null, signed: boolean): PendingLook[] {
  if (look === null || look.doneAt !== null) return []
  const { dueAt, askedAt } = look
  return [{ lookId, dueAt, askedAt, of, wakeAt: wakeAtOf(of, look, signed) }]
}

function wakeAtOf(of: PendingLook['of'], { dueAt, askedAt }: Look, signed: boolean): number {
  // Nothing but this net brings a look at an operation: the delay line is a minute long.
  if (askedAt === null) return of === 'operation' ? dueAt : dueAt + OVERDUE_AFTER_MS
  if (of === 'operation') return askedAt + ASK_AGAIN_AFTER_MS
  return signed ? answerBy(dueAt, askedAt) + UNANSWERED_LOST_AFTER_MS : askedAt + ASK_AGAIN_FOR_HINTS_MS
}

/** Only this net brings a question that follows an alert: it may be a day away. */
function pendingLateReading({ id, verdict, look }: ActionRecord): PendingLook[] {
  const nextAt = look?.lateReading?.nextAt ?? null
  if (verdict !== 'unexplained' || look === null || nextAt === null) return []
  return [{ lookId: id, dueAt: look.dueAt, askedAt: look.askedAt, of: 'late_reading', wakeAt: nextAt }]
}

/** When a signed action is judged whether the provider has answered or not, in milliseconds since the epoch. */
export function answerBy(dueAt: number, askedAt: number): number {
  return Math.max(dueAt + ANSWER_WITHIN_MS, askedAt + LEAST_TIME_TO_ANSWER_MS)
}

/** Whether the provider was asked so lately that its answer may still come. */
export function awaitsAnswer(look: PendingLook, now: number): boolean {
  return look.askedAt !== null && now < look.wakeAt
}
