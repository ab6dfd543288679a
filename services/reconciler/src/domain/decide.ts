import type { Operation } from '@backstop/contracts'
import type { ObservedAction, ObservedRefundTotal } from '@backstop/providers'
import { judgeAtSecondLook, judgeSubject } from './judge.ts'
import {
  addProvisionalAction,
  observeAction,
  observeOperation,
  observeRefundTotal,
  openAmount,
  type Sighting,
} from './observe.ts'
import { recheckEntry } from './outgoing.ts'
import type { ConnectionPolicy } from './policy.ts'
import { replaceAt, type Subject } from './subject.ts'

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
  switch (input.kind) {
    case 'action':
      return judgeSubject(observeAction(subject, input.observed, input.sighting, now), now, rules.recheckDelayMs)
    case 'refund_total':
      return judgeSubject(lookLaterAtTotal(subject, input, now, rules), now, rules.recheckDelayMs)
    case 'operation':
      return judgeSubject(observeOperation(subject, input.operation), now, rules.recheckDelayMs)
    case 'second_look':
      return decideSecondLook(subject, input, now, rules)
    default:
      return input satisfies never
  }
}

type TotalSeen = Extract<Input, { kind: 'refund_total' }>

/** A total by itself accuses nobody: its refunds are likely on their way. It is looked at again after the minute. */
function lookLaterAtTotal(subject: Subject, input: TotalSeen, now: number, rules: Rules): Subject {
  const dueAt = now + rules.recheckDelayMs
  const next = observeRefundTotal(subject, input.observed, input.sighting, dueAt)
  if (next.refundTotals.length === subject.refundTotals.length) return next
  const added = next.refundTotals.at(-1)
  if (added === undefined || openAmount(next, added) === 0) return next
  return { ...next, outbox: [...next.outbox, recheckEntry(next, totalLookId(added), dueAt, now)] }
}

/** The name of the look at a charge's total. */
export function totalLookId(total: { identity: string; total: number }): string {
  return `${total.identity}/refunded/${total.total}`
}

type SecondLook = Extract<Input, { kind: 'second_look' }>

function decideSecondLook(subject: Subject, look: SecondLook, now: number, rules: Rules): Subject {
  if (now < look.dueAt) {
    // Clocks differ between machines; a look that comes early by this one goes round again.
    return { ...subject, outbox: [...subject.outbox, recheckEntry(subject, look.lookId, look.dueAt, now)] }
  }
  const withTotal = lookAtTotal(subject, look, now)
  const judged = judgeSubject(withTotal, now, rules.recheckDelayMs)
  const index = judged.actions.findIndex(action => isLookedAt(action.id, action.identity, look.lookId))
  const action = judged.actions[index]
  const isDue = action?.look?.doneAt === null && action.look.dueAt === look.dueAt
  if (action === undefined || action.verdict !== 'pending' || !isDue) return judged
  const policies = action.seenThrough.flatMap(connection => look.policies.get(connection.id) ?? [])
  const verdict = judgeAtSecondLook(judged, action, policies, now)
  return {
    ...judged,
    actions: replaceAt(judged.actions, index, verdict.action),
    outbox: [...judged.outbox, ...verdict.outbox],
  }
}

/** A provisional action is looked at under the name of its total; every other one under its own. */
function isLookedAt(actionId: string, identity: string, lookId: string): boolean {
  return actionId === lookId || identity === lookId
}

/** Turns what a charge's total still leaves open into a provisional action, once, at the look that was set for it. */
function lookAtTotal(subject: Subject, look: SecondLook, now: number): Subject {
  const index = subject.refundTotals.findIndex(total => totalLookId(total) === look.lookId)
  const total = subject.refundTotals[index]
  if (total === undefined || total.look.doneAt !== null) return subject
  const done = { ...total, look: { ...total.look, doneAt: now } }
  const looked = { ...subject, refundTotals: replaceAt(subject.refundTotals, index, done) }
  const open = openAmount(looked, total)
  return open === 0 ? looked : addProvisionalAction(looked, total, open, now)
}

/** The looks that a subject still waits for, so that a slow sweep finds those whose message was lost. */
export function pendingLooks(subject: Subject): readonly { lookId: string; dueAt: number }[] {
  const actions = subject.actions.flatMap(action =>
    action.verdict === 'pending' && action.look !== null && action.look.doneAt === null
      ? [{ lookId: action.id, dueAt: action.look.dueAt }]
      : [],
  )
  const totals = subject.refundTotals.flatMap(total =>
    total.look.doneAt === null && openAmount(subject, total) > 0
      ? [{ lookId: totalLookId(total), dueAt: total.look.dueAt }]
      : [],
  )
  return [...actions, ...totals]
}
