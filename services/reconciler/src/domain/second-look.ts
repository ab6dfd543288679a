import type { Readback } from '@backstop/contracts'
import { isSigned, type LookFacts, whomToAsk } from './asking.ts'
import { judgeAtSecondLook, judgeSubject } from './judge.ts'
import { awaitsAnswer, type PendingLook, pendingLooks } from './looks.ts'
import { lookAtOperation } from './operation-looks.ts'
import { recheckEntry, rereadEntry } from './outgoing.ts'
import { policiesOf } from './policy.ts'
import { lookAtStep } from './refund-steps.ts'
import { type ActionRecord, type Look, type RefundTotal, replaceAt, type Subject, withRecord } from './subject.ts'

/** A look that is due, or that the provider has answered. */
export interface LookInput {
  readonly lookId: string
  /** When the look was due, as its message says: a look that was moved since is another one. */
  readonly dueAt: number
  readonly facts: LookFacts
  /** What the provider said; null before it was asked. What it showed was observed before. */
  readonly answer: Pick<Readback, 'outcome'> | null
}

const READ_BACK = { read: 'confirmed', not_found: 'not_found', unavailable: 'unavailable' } as const

/** The subject after a look. One that is not waited for changes nothing. */
export function takeLook(subject: Subject, input: LookInput, now: number, recheckDelayMs: number): Subject {
  const look = findLook(subject, input)
  if (look === undefined) return subject
  if (input.answer === null && now < look.dueAt) return comeAgain(subject, look, now)
  const judged = judgeSubject(subject, now, recheckDelayMs)
  if (findLook(judged, input) === undefined) return judged
  if (look.of === 'decision') return judged
  if (look.of === 'operation') return lookAtOperation(judged, look, input, now)
  const seen = lookedAt(judged, look)
  if (seen === undefined) return judged
  if (input.answer === null) {
    const whom = whomToAsk(seen, input.facts)
    if (whom.kind !== 'nobody') {
      if (awaitsAnswer(look, now)) return judged
      const asked = withAsked(judged, look, now)
      if (whom.kind === 'wait') return asked
      return { ...asked, outbox: [...asked.outbox, rereadEntry(judged, look, whom.asking, 'second_look', now)] }
    }
  } else if (input.answer.outcome === 'unavailable' && !isSigned(seen)) {
    // Nothing but hints and what was read after them speaks of it: no verdict before the provider has.
    return withAsked(judged, look, now)
  }
  return conclude(judged, look, input, now, recheckDelayMs)
}

function findLook(subject: Subject, { lookId, dueAt }: LookInput): PendingLook | undefined {
  return pendingLooks(subject).find(look => look.lookId === lookId && look.dueAt === dueAt)
}

/** Clocks differ between machines; a look that comes early by this one goes round again. */
function comeAgain(subject: Subject, look: PendingLook, now: number): Subject {
  if (look.of === 'operation' || look.of === 'decision') return subject
  return { ...subject, outbox: [...subject.outbox, recheckEntry(subject, look.lookId, look.dueAt, now)] }
}

function lookedAt(subject: Subject, { lookId, of }: PendingLook): ActionRecord | RefundTotal | undefined {
  return of === 'action'
    ? subject.actions.find(action => action.id === lookId)
    : subject.refundTotals.find(total => total.id === lookId)
}

function withAsked(subject: Subject, { lookId, of }: PendingLook, now: number): Subject {
  const asked = (look: Look | null) => (look === null ? null : { ...look, askedAt: now })
  if (of === 'action') {
    const action = subject.actions.find(one => one.id === lookId)
    return action === undefined ? subject : withRecord(subject, { ...action, look: asked(action.look) })
  }
  const index = subject.refundTotals.findIndex(total => total.id === lookId)
  const total = subject.refundTotals[index]
  if (total === undefined) return subject
  return {
    ...subject,
    refundTotals: replaceAt(subject.refundTotals, index, { ...total, look: asked(total.look) }),
  }
}

/** The verdict of a look that waits for nobody any more. */
function conclude(
  subject: Subject,
  { lookId, dueAt, of }: PendingLook,
  { facts, answer }: LookInput,
  now: number,
  recheckDelayMs: number,
): Subject {
  // What a step leaves open becomes an action in this moment, and that is judged at once: its minute has passed.
  const looked = of === 'step' ? judgeSubject(lookAtStep(subject, lookId, now), now, recheckDelayMs) : subject
  const action = looked.actions.find(one => (of === 'step' ? one.identity : one.id) === lookId)
  if (action === undefined || action.verdict !== 'pending' || action.look?.dueAt !== dueAt) return looked
  return judgeAtSecondLook(
    looked,
    action,
    {
      policies: policiesOf(looked, action, facts.policies),
      readBack: answer === null ? null : READ_BACK[answer.outcome],
    },
    now,
  )
}
