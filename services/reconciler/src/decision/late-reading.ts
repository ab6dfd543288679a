import type { Readback } from '@backstop/contracts'
import { type ActionRecord, type LateReading, type Subject, withRecord } from '../case/case.ts'
import { withLateReading } from '../case/denial.ts'
import type { PendingLook } from '../case/looks.ts'
import { tellStory, timelineEntry } from '../case/timeline.ts'
import { whomToAsk } from '../case/whom-to-ask.ts'
import { rereadEntry } from '../verdict/outbox-entries.ts'
import type { LookInput } from './second-look.ts'

/**
 * A signed action alerts at its second look even if the provider does not answer. The provider is asked again afterwards,
 * and an answer that disproves the alert resolves its incident.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Waits before each question, in milliseconds: two days in all, longer than most outages of a provider. */
const WAITS_MS = [1, 5, 15, 60, 3 * 60, 6 * 60, 12 * 60, 24 * 60].map(minutes => minutes * MINUTE_MS)
/** How long the answer to the last question is waited for. */
const LAST_ANSWER_WITHIN_MS = HOUR_MS

/** The subject with questions to come about an action that alerted although the provider had not answered. */
export function startLateReading(subject: Subject, actionId: string, input: LookInput, now: number): Subject {
  const action = subject.actions.find(one => one.id === actionId)
  if (action?.verdict !== 'unexplained' || whomToAsk(action, input.facts).kind !== 'ask') return subject
  return withRecord(subject, withLateReading(action, { tries: 0, nextAt: nextAfter(0, now), outcome: null }))
}

/** The subject after a question became due, or after the provider answered one. */
export function readLate(subject: Subject, look: PendingLook, input: LookInput, now: number): Subject {
  const action = subject.actions.find(one => one.id === look.lookId)
  const reading = action?.look?.lateReading
  if (action === undefined || reading === undefined) return subject
  return input.answer === null
    ? askAgain(subject, action, look, reading, input, now)
    : takeAnswer(subject, action, reading, input.answer.outcome, now)
}

function askAgain(
  subject: Subject,
  action: ActionRecord,
  look: PendingLook,
  reading: LateReading,
  { facts }: LookInput,
  now: number,
): Subject {
  if (now < look.wakeAt) return subject
  if (reading.tries >= WAITS_MS.length)
    return withRecord(subject, withLateReading(action, { ...reading, nextAt: null }))
  const tries = reading.tries + 1
  const asked = withRecord(subject, withLateReading(action, { ...reading, tries, nextAt: nextAfter(tries, now) }))
  const whom = whomToAsk(action, facts)
  if (whom.kind !== 'ask') return asked
  return { ...asked, outbox: [...asked.outbox, rereadEntry(subject, look, whom.asking, 'second_look', now)] }
}

function nextAfter(tries: number, now: number): number {
  return now + (WAITS_MS[tries] ?? LAST_ANSWER_WITHIN_MS)
}

function takeAnswer(
  subject: Subject,
  action: ActionRecord,
  reading: LateReading,
  answer: Readback['outcome'],
  now: number,
): Subject {
  // The next question is due already.
  if (answer === 'unavailable') return subject
  const outcome = answer === 'not_found' ? 'not_found' : 'confirmed'
  const read: ActionRecord = {
    ...withLateReading(action, { ...reading, nextAt: null, outcome }),
    readBack: outcome,
  }
  const shown = answer === 'not_found' ? 'does not know it' : `shows it as ${action.state.replaceAll('_', ' ')}`
  const text = `The provider was read after the alert, and ${shown}`
  return withRecord(subject, tellStory(read, timelineEntry(now, 'read_back', null, text)))
}
