import { isSigned } from './asking.ts'
import type { ActionRecord, Look, Subject } from './subject.ts'

/** A look this long past its time was not just slow: its message is lost. */
const OVERDUE_AFTER_MS = 5 * 60_000
/** An answer this late was lost, or never given: the provider is asked again. What rests on hints is asked for longer. */
const ASK_AGAIN_AFTER_MS = 5 * 60_000
const ASK_AGAIN_FOR_HINTS_MS = 20 * 60_000

/** A look that a subject still waits for. */
export interface PendingLook {
  /** As its recheck names it. */
  readonly lookId: string
  readonly dueAt: number
  readonly askedAt: number | null
  readonly of: 'action' | 'step' | 'operation' | 'decision'
  /** When it is to be asked for again, if nothing has come of it by then. */
  readonly wakeAt: number
}

/** The looks that a subject still waits for, so that a slow sweep finds those whose message was lost. */
export function pendingLooks(subject: Subject): readonly PendingLook[] {
  const actions = subject.actions.flatMap(action =>
    action.verdict === 'pending' ? pending('action', action.id, action.look, isSigned(action)) : [],
  )
  const steps = subject.refundTotals.flatMap(total => pending('step', total.id, total.look, true))
  const operations = subject.operationCases.flatMap(({ operationId, look }) =>
    look === null ? [] : pending('operation', operationLookId(look.why, operationId), look, true),
  )
  return [...actions, ...steps, ...operations, ...subject.actions.flatMap(decisionOf)]
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
  // Nothing but this net brings a look at an operation: the delay line is a minute long.
  const firstAt = of === 'operation' ? dueAt : dueAt + OVERDUE_AFTER_MS
  const againAfterMs = signed ? ASK_AGAIN_AFTER_MS : ASK_AGAIN_FOR_HINTS_MS
  return [{ lookId, dueAt, askedAt, of, wakeAt: askedAt === null ? firstAt : askedAt + againAfterMs }]
}

/** Whether the provider was asked so lately that its answer may still come. */
export function awaitsAnswer(look: PendingLook, now: number): boolean {
  return look.askedAt !== null && now < look.wakeAt
}
