import type { Operation } from '@backstop/contracts'
import type { ObservedAction, ObservedRefundTotal } from '@backstop/providers'
import { judgeAtSecondLook, judgeSubject } from './judge.ts'
import { observeAction, observeOperation } from './observe.ts'
import { recheckEntry } from './outgoing.ts'
import { type ConnectionPolicy, policiesOf } from './policy.ts'
import { armOpenSteps, lookAtStep, observeRefundTotal } from './refund-steps.ts'
import { replaceAt, type Sighting, type Subject } from './subject.ts'

/** Everything that can change what is known of a subject. */
export type Input =
  | { readonly kind: 'action'; readonly observed: ObservedAction; readonly sighting: Sighting }
  | { readonly kind: 'refund_total'; readonly observed: ObservedRefundTotal; readonly sighting: Sighting }
  | { readonly kind: 'operation'; readonly operation: Operation }
  | {
      readonly kind: 'second_look'
      readonly lookId: string
      /** When the look was due, as its message says: a look that was moved since is another one. */
      readonly dueAt: number
      readonly policies: ReadonlyMap<string, ConnectionPolicy>
    }

export interface Rules {
  /** Milliseconds between the first record of an unexplained action and its second look. */
  readonly recheckDelayMs: number
}

/**
 * The next state of a subject. Pure: what it returns rests on its arguments only, so a lost compare-and-set is answered
 * by loading again and deciding again.
 */
export function decide(subject: Subject, input: Input, now: number, rules: Rules): Subject {
  const judge = (next: Subject) =>
    judgeSubject(armOpenSteps(next, now, rules.recheckDelayMs), now, rules.recheckDelayMs)
  switch (input.kind) {
    case 'action':
      return judge(observeAction(subject, input.observed, input.sighting, now))
    case 'refund_total':
      return judge(observeRefundTotal(subject, input.observed, input.sighting))
    case 'operation':
      return judge(observeOperation(subject, input.operation))
    case 'second_look':
      return decideSecondLook(subject, input, now, rules)
    default:
      return input satisfies never
  }
}

type SecondLook = Extract<Input, { kind: 'second_look' }>

function decideSecondLook(subject: Subject, look: SecondLook, now: number, rules: Rules): Subject {
  const isPending = pendingLooks(subject).some(({ lookId, dueAt }) => lookId === look.lookId && dueAt === look.dueAt)
  if (!isPending) return subject
  if (now < look.dueAt) {
    // Clocks differ between machines; a look that comes early by this one goes round again.
    return { ...subject, outbox: [...subject.outbox, recheckEntry(subject, look.lookId, look.dueAt, now)] }
  }
  const judged = judgeSubject(lookAtStep(subject, look.lookId, now), now, rules.recheckDelayMs)
  const index = judged.actions.findIndex(action => isLookedAt(action.id, action.identity, look.lookId))
  const action = judged.actions[index]
  const isDue = action?.look?.doneAt === null && action.look.dueAt === look.dueAt
  if (action === undefined || action.verdict !== 'pending' || !isDue) return judged
  const verdict = judgeAtSecondLook(judged, action, policiesOf(judged, action, look.policies), now)
  return {
    ...judged,
    actions: replaceAt(judged.actions, index, verdict.action),
    outbox: [...judged.outbox, ...verdict.outbox],
  }
}

/** A provisional action is looked at under the name of its step; every other one under its own. */
function isLookedAt(actionId: string, identity: string, lookId: string): boolean {
  return actionId === lookId || identity === lookId
}

/** The looks that a subject still waits for, so that a slow sweep finds those whose message was lost. */
export function pendingLooks(subject: Subject): readonly { lookId: string; dueAt: number }[] {
  const actions = subject.actions.flatMap(action =>
    action.verdict === 'pending' && action.look !== null && action.look.doneAt === null
      ? [{ lookId: action.id, dueAt: action.look.dueAt }]
      : [],
  )
  const totals = subject.refundTotals.flatMap(total =>
    total.look?.doneAt === null ? [{ lookId: total.id, dueAt: total.look.dueAt }] : [],
  )
  return [...actions, ...totals]
}
