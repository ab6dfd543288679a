import type { Readback } from '@backstop/contracts'
import type { ActionRecord, LateReading } from '../case/action-record.ts'
import { type Case, withMessages, withRecord } from '../case/case.ts'
import { withLateReading } from '../case/denial.ts'
import type { LateReadingLook, LookInput } from '../case/looks.ts'
import { addToTimeline, stateOf, timelineEntry } from '../case/timeline.ts'
import { decideWhomToAsk } from '../case/whom-to-ask.ts'
import { judgeDenial } from '../judge/judge.ts'
import { rereadEntry } from '../show/outbox-entries.ts'

/**
 * A signed action alerts at its second look even if the provider does not answer. The provider is asked again afterwards,
 * and an answer that disproves the alert resolves its incident.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Waits before each question, in milliseconds. The sum is two days, longer than most outages of a provider. */
const WAITS_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map(minutes => minutes * MINUTE_MS)
/** How long to wait for the answer to the last question. */
const LAST_ANSWER_WITHIN_MS = HOUR_MS

/** Schedules questions about an action that alerted although the provider had not answered. */
export function scheduleLateReading(theCase: Case, actionId: string, input: LookInput, now: number): Case {
  const action = theCase.actions.find(({ id }) => id === actionId)
  if (action?.verdict !== 'unexplained' || decideWhomToAsk(action, input.facts).kind !== 'ask') return theCase
  return withRecord(theCase, withLateReading(action, { tries: 0, nextAt: nextQuestionAt(0, now), outcome: null }))
}

/** The case after a question is due, or after the provider answered it. */
export function applyLateReadingLook(theCase: Case, look: LateReadingLook, input: LookInput, now: number): Case {
  const action = theCase.actions.find(({ id }) => id === look.actionId)
  const reading = action?.look?.lateReading
  if (action === undefined || reading === undefined) return theCase
  return input.answer === null
    ? askProviderAgain(theCase, action, look, reading, input, now)
    : applyLateAnswer(theCase, action, reading, input.answer.outcome, now)
}

function askProviderAgain(
  theCase: Case,
  action: ActionRecord,
  look: LateReadingLook,
  reading: LateReading,
  { facts }: LookInput,
  now: number,
): Case {
  if (now < look.wakeAt) return theCase
  if (reading.tries >= WAITS_MS.length)
    return withRecord(theCase, withLateReading(action, { ...reading, nextAt: null }))
  const tries = reading.tries + 1
  const asked = withRecord(
    theCase,
    withLateReading(action, { tries, nextAt: nextQuestionAt(tries, now), outcome: null }),
  )
  const whom = decideWhomToAsk(action, facts)
  if (whom.kind !== 'ask') return asked
  return withMessages(asked, rereadEntry(theCase, look, whom.asking, 'second_look', now))
}

function nextQuestionAt(tries: number, now: number): number {
  return now + (WAITS_MS[tries] ?? LAST_ANSWER_WITHIN_MS)
}

function applyLateAnswer(
  theCase: Case,
  action: ActionRecord,
  reading: LateReading,
  answer: Readback['outcome'],
  now: number,
): Case {
  // The next question is already scheduled.
  if (answer === 'unavailable') return theCase
  const outcome = answer === 'not_found' ? 'not_found' : 'confirmed'
  const read: ActionRecord = {
    ...withLateReading(action, { ...reading, nextAt: null, outcome }),
    readBack: outcome,
  }
  const shown = answer === 'not_found' ? 'does not know it' : `shows it as ${stateOf(action)}`
  const text = `The provider was read after the alert, and ${shown}`
  const recorded = addToTimeline(read, timelineEntry(now, 'read_back', null, text))
  return judgeDenial(withRecord(theCase, recorded), recorded, now)
}
