import { type Alert, formatMoney, type Names, type OperationState, type ShownOperation } from '@backstop/contracts'
import type { AlertTexts, NextStep } from './alert-description.ts'
import { timeWithAge } from './times.ts'
import {
  capitalise,
  type FactRow,
  factsIn,
  nameAction,
  nounOfSubject,
  oneLineOrNull,
  shortTextOrNull,
  titleWith,
  toOneLine,
} from './wording.ts'

type Of<E extends Alert['event']> = Extract<Alert, { event: E }>
type ApprovalEvent = 'approval.requested' | 'approval.reminder' | 'approval.expired'

/** About eight words: the facts of an approval or a run need the other 72 of a message. */
const MOST_OF_REASON = 44

/** What is known about an operation that only the customer's software knows: no customer. */
export function factsOfReport({ kind, subject }: ShownOperation): AlertTexts['facts'] {
  return factsIn([[capitalise(nounOfSubject(kind)), subject]])
}

/** Describes the state of an operation's approval, and the next step. */
export function describeApproval(alert: Of<ApprovalEvent>, nowMs: number): AlertTexts {
  const { operation, approval, names } = alert.data
  const what = nameAction(operation)
  const deadline = approval.deadline_at
  const decide: NextStep = {
    sentence: `Approve or decline it by ${deadline}. Without a decision, it is not made.`,
    steps: [
      `Look for the ${nounOfSubject(operation.kind)} in the provider's dashboard, and check that the customer should get this ${operation.kind}.`,
      'Open the request in the console, and approve or decline it there.',
    ],
  }
  const words = {
    'approval.requested': {
      title: `Approval needed: ${what}`,
      summary: `Your software wants to make a ${what} and waits for a person to approve it.`,
      next: decide,
    },
    'approval.reminder': {
      title: `Still waiting for approval: ${what}`,
      summary: `Your software wants to make a ${what}. Half of the time to approve it has passed, and there is no decision yet.`,
      next: decide,
    },
    'approval.expired': {
      title: `Approval expired: ${what}`,
      summary: `Your software wanted to make a ${what}, but it was not approved or declined in time. It is not made, and the customer may still be waiting for it.`,
      next: {
        sentence: `Decide whether the customer should still get this ${operation.kind}.`,
        steps: [`If so: ask the developers of the software to request it again, and approve it in time.`],
      },
    },
  }[alert.event]
  return {
    ...words,
    title: titleWith(words.title, names?.connection),
    facts: [
      ...factsOfReport(operation),
      ...factsIn([
        // The messages that follow have more to say.
        ['Reason', alert.event === 'approval.requested' ? shortTextOrNull(operation.reason, MOST_OF_REASON) : null],
        ['Asked for at', timeWithAge(approval.requested_at, nowMs)],
        ['Run of your software', oneLineOrNull(operation.run_id)],
      ]),
    ],
    tone: alert.event === 'approval.expired' ? 'alarm' : 'neutral',
    providerUrl: null,
    reference: operation.operation_id,
  }
}

/** Describes how much of a budget is used, and what happens to operations beyond it. */
export function describeBudget(alert: Of<'cap.threshold'>): AlertTexts {
  const { budget, current, percent, operation, names } = alert.data
  const money = (minorUnits: number) => formatMoney(minorUnits, budget.currency) ?? ''
  const name = `"${toOneLine(budget.name)}"`
  const taken = current.used + current.reserved
  const until = current.ends_at
  const overspent = taken - budget.cap
  return {
    title:
      overspent > 0
        ? `The budget ${name} is overspent by ${money(overspent)}`
        : percent >= 100
          ? `The budget ${name} is used up`
          : `${percent} % of the budget ${name} is used`,
    summary:
      `${money(taken)} of ${money(budget.cap)} a ${budget.interval} are spent or reserved. ` +
      (current.left > 0
        ? `${money(current.left)} are left until ${until}; a refund beyond that is refused.`
        : `Until ${until} every further refund is refused.`),
    facts: factsIn([
      ['Covers', nameCovered(budget.connection_id, names)],
      ['Reserved', `${money(current.reserved)} for refunds that are not made yet`],
      ['Reached by', `A ${nameAction(operation)}`],
    ]),
    next: {
      sentence:
        percent >= 100
          ? 'Check now whether these refunds are right, because further ones are refused.'
          : 'Check whether these refunds are right.',
      steps: BUDGET_STEPS,
    },
    tone: percent >= 100 ? 'alarm' : 'neutral',
    providerUrl: null,
    reference: budget.budget_id,
  }
}

const BUDGET_STEPS = [
  'Open the budget in the console, and find out which refunds were counted.',
  'If they are not right: ask the developers to stop the software that makes them.',
  'If they are right: raise the limit of the budget in the console if more must follow. Otherwise, there is nothing to do.',
]

function nameCovered(connectionId: string | null, names: Names | undefined): string {
  if (connectionId !== null) return toOneLine(names?.connection ?? connectionId)
  return names?.project == null ? 'The whole project' : `The whole project "${toOneLine(names.project)}"`
}

/** Maximum number of operations that a message lists. */
const MOST_NAMED = 2

/** Describes a failed run and its operations that have not ended. */
export function describeFailedRun(
  { data: { run, operations, operations_total, names } }: Of<'run.failed'>,
  nowMs: number,
): AlertTexts {
  const open = operations.filter(({ ended_at }) => ended_at === null)
  const isMore = operations_total > operations.length
  const named = open.slice(0, MOST_NAMED)
  const reason = shortTextOrNull(run.reason, MOST_OF_REASON)
  return {
    title: `Run ${toOneLine(run.run_id)} failed`,
    summary: `${reason === null ? 'Your software gave no reason' : `Your software gave the reason "${reason.replace(/\.$/, '')}"`}. ${describeExtent(operations_total, open.length, isMore)}`,
    facts: factsIn([
      ['Project', oneLineOrNull(names?.project)],
      ['Failed at', timeWithAge(run.failed_at, nowMs)],
      ...named.map((operation): FactRow => ['Not finished', describeUnfinished(operation)]),
      ['And more', open.length > MOST_NAMED ? `${open.length - MOST_NAMED} not finished` : null],
    ]),
    next:
      operations_total === 0
        ? { sentence: 'Ask the developers of this software why it failed.', steps: [] }
        : {
            sentence: 'Check what it has done before anybody starts it again.',
            steps: [
              'Open the run in the console, and find out which refunds and cancellations were finished.',
              "Look for each unfinished one in the provider's dashboard: was it made?",
              'Tell the developers of this software what you found, before they start it again.',
            ],
          },
    tone: 'alarm',
    providerUrl: null,
    reference: toOneLine(run.run_id),
  }
}

function describeExtent(total: number, open: number, isMore: boolean): string {
  if (total === 0) return 'It had not begun any refund or cancellation.'
  const begun =
    total === 1 ? 'It had begun one refund or cancellation' : `It had begun ${total} refunds or cancellations`
  return `${begun}; ${open === 0 ? 'all' : `${isMore ? 'at least ' : ''}${open}`} of them ${open === 0 ? 'are finished' : open === 1 ? 'is not finished' : 'are not finished'}.`
}

/** The states of operations that have not ended. */
const OPEN_STATES: Partial<Record<OperationState, string>> = {
  requested: 'not sent to the provider yet',
  approval_pending: 'waits for approval',
  approved: 'approved, but not sent to the provider yet',
  executing: 'sent to the provider, result unknown',
  awaiting_review: 'the provider still reviews it',
}

function describeUnfinished(operation: ShownOperation): string {
  const state = OPEN_STATES[operation.state] ?? operation.state.replaceAll('_', ' ')
  return `${capitalise(nameAction(operation))} for ${nounOfSubject(operation.kind)} ${operation.subject}: ${state}`
}
