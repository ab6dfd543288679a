import { type ActionRecord, lastResultOf } from '../case/action-record.ts'
import { type Case, withMessages, withRecord } from '../case/case.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import { addToTimeline, timelineEntry } from '../case/timeline.ts'
import { isProviderReason } from '../explain/operation-match.ts'
import { recheckEntry } from '../show/outbox-entries.ts'

type NotUnexplained = Exclude<ActionRecord, { verdict: 'unexplained' }>

/** The reason why an unexplained action needs a new second look; null if it has had one or one is pending. */
export function whyLookAgain(
  action: NotUnexplained,
): 'new' | 'explanation_lost' | 'ended_by_somebody' | 'shown_again' | 'other_setting' | null {
  if (action.verdict === 'explained') return 'explanation_lost'
  if (action.look === null) return 'new'
  if (action.verdict !== 'not_alerted') return null
  if (isProviderReason(action.reason)) return 'ended_by_somebody'
  if (action.reason === 'provider_denies_it') return 'shown_again'
  // The settings of the connections in `quietFor` kept the action from alerting. The setting of another connection that
  // shows the action may require an alert.
  const { quietFor }: { readonly quietFor: readonly string[] } = action
  return action.seenThrough.some(({ id }) => !quietFor.includes(id)) ? 'other_setting' : null
}

/** Schedules a second look, at first sight or after an operation no longer explains the action. */
export function scheduleLook(theCase: Case, action: NotUnexplained, { now, recheckDelayMs }: DecisionContext): Case {
  const dueAt = now + recheckDelayMs
  const earlier = lastResultOf(action.look)
  const armed: ActionRecord = {
    ...action,
    verdict: 'pending',
    reason: 'awaiting_second_look',
    operationId: null,
    expectedChangeId: null,
    quietFor: [],
    look: { dueAt, askedAt: null, doneAt: null, ...(earlier === undefined ? {} : { earlier }) },
  }
  const lost = timelineEntry(now, 'explanation_lost', action.operationId, lostExplanationText(action))
  const next = withRecord(theCase, action.verdict === 'explained' ? addToTimeline(armed, lost) : armed)
  return withMessages(next, recheckEntry(theCase, action.id, dueAt, now))
}

function lostExplanationText(action: ActionRecord): string {
  return action.operationId === null
    ? 'What explained it does not hold any more'
    : `Operation ${action.operationId} does not explain it any more`
}
