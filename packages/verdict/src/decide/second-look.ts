import type { ActionRecord } from '../case/action-record.ts'
import { type Case, type RefundTotal, replaceAt, withMessages, withRecord } from '../case/case.ts'
import { policiesOf } from '../case/connection-policy.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import {
  answerBy,
  awaitsAnswer,
  type LookInput,
  type PendingLook,
  pendingLooks,
  type SecondLook,
} from '../case/looks.ts'
import { decideWhomToAsk, isSigned, type ProviderQuestion } from '../case/whom-to-ask.ts'
import { judgeAtSecondLook, judgeCase } from '../judge/judge.ts'
import { applyTotalLook } from '../refund/refund-steps.ts'
import { rereadEntry, unansweredEntry } from '../show/outbox-entries.ts'
import { applyLateReadingLook, scheduleLateReading } from './late-reading.ts'
import { lookAtOperation } from './operation-looks.ts'

const READ_BACK = { read: 'confirmed', not_found: 'not_found', unavailable: 'unavailable' } as const

/** The case after a look. A look that the case does not wait for changes nothing. */
export function applyLook(theCase: Case, input: LookInput, context: DecisionContext): Case {
  const { now } = context
  const look = findLook(theCase, input)
  if (look === undefined) return theCase
  // The consumer waits until a look is due. A look that is early all the same is requested again by the timer for overdue looks.
  if (input.answer === null && now < look.dueAt) return theCase
  // Before the look changes anything: an operation may explain an alerted action since a time that no input reported. Then the provider's
  // answer is not recorded any more, and a refund that only a total shows does not get this operation instead.
  const judged = judgeCase(theCase, context)
  if (findLook(judged, input) === undefined) return judged
  switch (look.kind) {
    case 'decision':
      return judged
    case 'operation':
      return lookAtOperation(judged, look, input, now)
    case 'late_reading':
      return applyLateReadingLook(judged, look, input, now)
    case 'action':
    case 'refund_total':
      return applySecondLook(judged, look, input, context)
    default:
      return look satisfies never
  }
}

/** The case after a second look: either the provider is asked, or the verdict is given. */
function applySecondLook(judged: Case, look: SecondLook, input: LookInput, context: DecisionContext): Case {
  const { now } = context
  const seen = subjectOfLook(judged, look)
  if (seen === undefined) return judged
  const step = input.answer === null ? nextStep(seen, look, input, now) : stepAfterAnswer(seen, input.answer, input)
  switch (step.kind) {
    case 'ask':
      return askProvider(judged, look, seen, step.asking, now)
    case 'keep_waiting':
      return markAsked(judged, look, now)
    case 'await_answer':
      return judged
    case 'conclude':
      return concludeLook(judged, look, { ...input, answer: step.answer }, context)
    default:
      return step satisfies never
  }
}

/** The next step of a second look. */
type Step =
  | { readonly kind: 'ask'; readonly asking: ProviderQuestion }
  /** The provider cannot be asked now, and a verdict needs its answer. */
  | { readonly kind: 'keep_waiting' }
  /** The provider was asked and may still answer in time. */
  | { readonly kind: 'await_answer' }
  | { readonly kind: 'conclude'; readonly answer: LookInput['answer'] }

function nextStep(seen: ActionRecord | RefundTotal, look: SecondLook, { facts }: LookInput, now: number): Step {
  const whom = decideWhomToAsk(seen, facts)
  if (whom.kind === 'nobody') return { kind: 'conclude', answer: null }
  if (look.askedAt !== null && isSigned(seen)) {
    const isOver = now >= answerBy(look.dueAt, look.askedAt)
    return isOver ? { kind: 'conclude', answer: { outcome: 'unavailable' } } : { kind: 'await_answer' }
  }
  if (awaitsAnswer(look, now)) return { kind: 'await_answer' }
  return whom.kind === 'wait' ? { kind: 'keep_waiting' } : whom
}

function stepAfterAnswer(
  seen: ActionRecord | RefundTotal,
  answer: NonNullable<LookInput['answer']>,
  { facts }: LookInput,
): Step {
  if (answer.outcome !== 'unavailable' || isSigned(seen)) return { kind: 'conclude', answer }
  // An action that is known only from hints gets no verdict before the provider has answered. The connection that asked may have been deleted,
  // and another one may show the action.
  const whom = decideWhomToAsk(seen, facts)
  if (whom.kind === 'nobody') return { kind: 'conclude', answer: null }
  return whom.kind === 'ask' && whom.asking.connectionId !== answer.connectionId ? whom : { kind: 'keep_waiting' }
}

/**
 * Asks the provider. A signed action also gets a message that ends the wait, so that it is judged in time even without
 * an answer.
 */
function askProvider(
  theCase: Case,
  look: SecondLook,
  seen: ActionRecord | RefundTotal,
  asking: ProviderQuestion,
  now: number,
): Case {
  const asked = markAsked(theCase, look, now)
  const answerByMs = isSigned(seen) ? answerBy(look.dueAt, now) : undefined
  const question = rereadEntry(theCase, look, asking, 'second_look', now, answerByMs)
  const end = answerByMs === undefined ? [] : [unansweredEntry(theCase, look, answerByMs, now)]
  return withMessages(asked, question, ...end)
}

function findLook(theCase: Case, { lookId, dueAt }: LookInput): PendingLook | undefined {
  return pendingLooks(theCase).find(look => look.lookId === lookId && look.dueAt === dueAt)
}

function subjectOfLook(theCase: Case, look: SecondLook): ActionRecord | RefundTotal | undefined {
  return look.kind === 'action'
    ? theCase.actions.find(({ id }) => id === look.actionId)
    : theCase.refundTotals.find(({ id }) => id === look.totalId)
}

function markAsked(theCase: Case, look: SecondLook, now: number): Case {
  if (look.kind === 'action') {
    const action = theCase.actions.find(({ id }) => id === look.actionId)
    if (action?.verdict !== 'pending' || action.look === null) return theCase
    return withRecord(theCase, { ...action, look: { ...action.look, askedAt: now } })
  }
  const index = theCase.refundTotals.findIndex(({ id }) => id === look.totalId)
  const total = theCase.refundTotals[index]
  if (total === undefined || total.look === null) return theCase
  return {
    ...theCase,
    refundTotals: replaceAt(theCase.refundTotals, index, { ...total, look: { ...total.look, askedAt: now } }),
  }
}

/** Gives the verdict of a look that waits for no further answer. */
function concludeLook(theCase: Case, look: SecondLook, input: LookInput, context: DecisionContext): Case {
  const { now } = context
  const { facts, answer } = input
  // A refund that only a total proves becomes an action now and is judged at once, because its minute has passed. It is new to the
  // judgement before this look, so here alone the case is judged a second time.
  const looked = look.kind === 'refund_total' ? judgeCase(applyTotalLook(theCase, look.totalId, now), context) : theCase
  const known = new Set(theCase.actions.map(({ id }) => id))
  const isLookedAt = ({ id }: ActionRecord) => (look.kind === 'action' ? id === look.actionId : !known.has(id))
  const readBack = answer === null ? null : READ_BACK[answer.outcome]
  return looked.actions.filter(isLookedAt).reduce((next, action) => {
    if (action.verdict !== 'pending' || action.look?.dueAt !== look.dueAt) return next
    const policies = policiesOf(next, action, facts.policies)
    const judged = judgeAtSecondLook(next, action, action.look, { policies, readBack }, now)
    return readBack === 'unavailable' ? scheduleLateReading(judged, action.id, input, now) : judged
  }, looked)
}
