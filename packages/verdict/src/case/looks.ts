import type { Readback } from '@backstop/contracts'
import type { ActionRecord, Look } from './action-record.ts'
import type { Case, FollowedOperation } from './case.ts'
import { isSigned, type LookFacts } from './whom-to-ask.ts'

/** After this time the message of a look counts as lost. */
const OVERDUE_AFTER_MS = 5 * 60_000
/** After this time an answer about an operation counts as lost, and the provider is asked again. */
const ASK_AGAIN_AFTER_MS = 5 * 60_000
/**
 * The same limit for actions that are known only from hints, because the re-read consumer asks for them during 15
 * minutes.
 */
const ASK_AGAIN_FOR_HINTS_MS = 20 * 60_000
/**
 * How long after its due time a look at a signed action waits for the provider's answer. Then the action is judged
 * without it, because the alert must be sent within five seconds of the due time.
 */
export const ANSWER_WITHIN_MS = 4_000
/** The provider gets at least this long to answer, even if the look itself is late. */
const LEAST_TIME_TO_ANSWER_MS = 2_000
/** After this time the message that ends the wait counts as lost. */
const UNANSWERED_LOST_AFTER_MS = 20_000

/** A look that is due, or that the provider has answered. */
export interface LookInput {
  readonly lookId: string
  /** The due time in the look's message. A look whose due time has changed since is another look. */
  readonly dueAt: number
  readonly facts: LookFacts
  /** The provider's answer, and the connection that asked for it; null before it was asked. The objects of the answer were applied before. */
  readonly answer: (Pick<Readback, 'outcome'> & { readonly connectionId?: string }) | null
}

/** A look that a case still waits for. */
export type PendingLook = SecondLook | OperationLook | DecisionLook | LateReadingLook

/** A second look at an action, or at a total that proves a refund. */
export type SecondLook = ActionLook | RefundTotalLook

interface ActionLook extends PendingLookFields {
  readonly kind: 'action'
  readonly actionId: string
}

interface RefundTotalLook extends PendingLookFields {
  readonly kind: 'refund_total'
  readonly totalId: string
}

/** A check of an operation at the provider. */
export interface OperationLook extends PendingLookFields {
  readonly kind: 'operation'
  readonly operationId: string
}

/**
 * Judges an alerted action again, because an operation that matches it may explain it from then on. The provider is not
 * asked.
 */
interface DecisionLook extends PendingLookFields {
  readonly kind: 'decision'
}

/** A question to the provider after an alert. */
export interface LateReadingLook extends PendingLookFields {
  readonly kind: 'late_reading'
  readonly actionId: string
}

interface PendingLookFields {
  /** The name of the look in messages. */
  readonly lookId: string
  readonly dueAt: number
  readonly askedAt: number | null
  /** When the look is requested again if it has no result. */
  readonly wakeAt: number
}

/** The looks that a case still waits for. The timer for overdue looks requests those whose message was lost. */
export function pendingLooks(theCase: Case): readonly PendingLook[] {
  const actions = theCase.actions.flatMap(action =>
    action.verdict === 'pending' ? pendingLookAt(action) : pendingLateReading(action),
  )
  const totals = theCase.refundTotals.flatMap((total): PendingLook[] => {
    const { id, look } = total
    if (look === null || look.doneAt !== null) return []
    const wakeAt = wakeAtOf(look, isSigned(total))
    return [{ kind: 'refund_total', totalId: id, lookId: id, dueAt: look.dueAt, askedAt: look.askedAt, wakeAt }]
  })
  const operations = theCase.followedOperations.flatMap(pendingOperationLook)
  return [...actions, ...totals, ...operations, ...theCase.actions.flatMap(pendingDecision)]
}

function pendingLookAt(action: ActionRecord): PendingLook[] {
  const { id, look } = action
  if (look === null || look.doneAt !== null) return []
  const wakeAt = wakeAtOf(look, isSigned(action))
  return [{ kind: 'action', actionId: id, lookId: id, dueAt: look.dueAt, askedAt: look.askedAt, wakeAt }]
}

function wakeAtOf({ dueAt, askedAt }: Look, signed: boolean): number {
  if (askedAt === null) return dueAt + OVERDUE_AFTER_MS
  return signed ? answerBy(dueAt, askedAt) + UNANSWERED_LOST_AFTER_MS : askedAt + ASK_AGAIN_FOR_HINTS_MS
}

/**
 * Only the timer for overdue looks requests looks at operations, because they are due later than a delay line can hold
 * a message.
 */
function pendingOperationLook({ operationId, look }: FollowedOperation): PendingLook[] {
  if (look === null || look.doneAt !== null) return []
  const { why, dueAt, askedAt } = look
  const wakeAt = askedAt === null ? dueAt : askedAt + ASK_AGAIN_AFTER_MS
  return [{ kind: 'operation', operationId, lookId: `${why}/${operationId}`, dueAt, askedAt, wakeAt }]
}

function pendingDecision({ id, decideAgainAt }: ActionRecord): PendingLook[] {
  if (decideAgainAt == null) return []
  const lookId = `decision/${id}`
  return [{ kind: 'decision', lookId, dueAt: decideAgainAt, askedAt: null, wakeAt: decideAgainAt }]
}

/** Only the timer for overdue looks requests a question after an alert, because it may be due a day later. */
function pendingLateReading({ id, verdict, look }: ActionRecord): PendingLook[] {
  const nextAt = look?.lateReading?.nextAt ?? null
  if (verdict !== 'unexplained' || look === null || nextAt === null) return []
  const { dueAt, askedAt } = look
  return [{ kind: 'late_reading', actionId: id, lookId: id, dueAt, askedAt, wakeAt: nextAt }]
}

/** When a signed action is judged, even if the provider has not answered, in milliseconds since the epoch. */
export function answerBy(dueAt: number, askedAt: number): number {
  return Math.max(dueAt + ANSWER_WITHIN_MS, askedAt + LEAST_TIME_TO_ANSWER_MS)
}

/** True if the provider was asked so recently that its answer may still arrive. */
export function awaitsAnswer({ askedAt, wakeAt }: PendingLook, now: number): boolean {
  return askedAt !== null && now < wakeAt
}
