import { type Alert, formatMoney, type ShownOperation } from '@backstop/contracts'
import type { AlertDescription } from './alert-description.ts'
import { capitalise, formatTime, nameAction, PROVIDER_NAMES } from './wording.ts'

type Of<E extends Alert['event']> = Extract<Alert, { event: E }>

/** Describes the state of an operation's approval, and the next step. */
export function describeApproval(
  alert: Of<'approval.requested' | 'approval.reminder' | 'approval.expired'>,
): AlertDescription {
  const { operation, approval } = alert.data
  const what = nameAction(operation)
  const id = operation.operation_id
  const deadline = formatTime(approval.deadline_at)
  const toDo = `Approve or decline it by ${deadline}, with POST /v1/operations/${id}/approve or …/decline; undecided, it expires`
  const words = {
    'approval.requested': {
      title: `Approval needed: ${what}`,
      summary: `Operation ${id} asks for a ${what} on ${operation.subject}. ${toDo}`,
    },
    'approval.reminder': {
      title: `Still waiting for approval: ${what}`,
      summary: `Half of the time has passed, and there is no decision on operation ${id}. ${toDo}`,
    },
    'approval.expired': {
      title: `Approval expired: ${what}`,
      summary: `Nobody decided on operation ${id} in time. It may no longer be executed, and its budget reservation is released; request it again if it is still needed`,
    },
  }[alert.event]
  return {
    ...words,
    facts: [
      ...factsOf(operation),
      { label: 'Asked for at', value: formatTime(approval.requested_at) },
      { label: 'Deadline', value: deadline },
      ...(operation.run_id === null ? [] : [{ label: 'Run', value: toOneLine(operation.run_id) }]),
    ],
    tone: alert.event === 'approval.expired' ? 'alarm' : 'neutral',
    path: `/operations/${encodeURIComponent(id)}`,
    reference: id,
  }
}

/** Describes how much of a budget is used, and what happens to operations beyond it. */
export function describeBudget(alert: Of<'cap.threshold'>): AlertDescription {
  const { budget, current, percent, operation } = alert.data
  const money = (minorUnits: number) => formatMoney(minorUnits, budget.currency) ?? ''
  const name = `"${toOneLine(budget.name)}"`
  const taken = current.used + current.reserved
  const until = formatTime(current.ends_at)
  const overspent = taken - budget.cap
  return {
    title:
      overspent > 0
        ? `The budget ${name} is overspent by ${money(overspent)}`
        : percent >= 100
          ? `The budget ${name} is used up`
          : `${percent} % of the budget ${name} is taken`,
    summary:
      `${money(taken)} of ${money(budget.cap)} a ${budget.interval} are used or reserved` +
      (current.left > 0
        ? `, ${money(current.left)} are left until ${until}. Beyond that, requests are refused`
        : `. Until ${until} requests are refused`) +
      `; PATCH /v1/budgets/${budget.budget_id} raises the cap`,
    facts: [
      { label: 'Budget', value: `${toOneLine(budget.name)} (${budget.budget_id})` },
      { label: 'Covers', value: budget.connection_id ?? 'The whole project' },
      { label: 'Used', value: money(current.used) },
      { label: 'Reserved', value: money(current.reserved) },
      { label: 'Cap', value: `${money(budget.cap)} a ${budget.interval}` },
      { label: 'Next period from', value: until },
      { label: 'Reached by', value: `${operation.operation_id}, a ${nameAction(operation)} on ${operation.subject}` },
    ],
    tone: percent >= 100 ? 'alarm' : 'neutral',
    path: `/budgets/${encodeURIComponent(budget.budget_id)}`,
    reference: budget.budget_id,
  }
}

/** Maximum number of operations that a message lists. */
const MOST_NAMED = 5

/** Describes a failed run and its operations that have not ended. */
export function describeFailedRun({ data: { run, operations, operations_total } }: Of<'run.failed'>): AlertDescription {
  const open = operations.filter(({ ended_at }) => ended_at === null)
  const isMore = operations_total > operations.length
  const why = run.reason === null ? 'No reason was given' : toOneLine(run.reason)
  const belongs = operations_total === 1 ? 'One operation belongs' : `${operations_total} operations belong`
  const still = open.length === 0 ? 'none' : `${isMore ? 'at least ' : ''}${open.length}`
  return {
    title: `Run ${toOneLine(run.run_id)} failed`,
    summary:
      operations_total === 0
        ? `${why}. No operation names it`
        : `${why}. ${belongs} to it, ${still} of them without an end. Look at what it had begun before it runs again`,
    facts: [
      { label: 'Run', value: toOneLine(run.run_id) },
      { label: 'Failed at', value: formatTime(run.failed_at) },
      { label: 'Operations', value: String(operations_total) },
      ...open.slice(0, MOST_NAMED).map(operation => ({
        label: capitalise(operation.state.replaceAll('_', ' ')),
        value: `${operation.operation_id}, a ${nameAction(operation)} on ${operation.subject}`,
      })),
      ...(open.length > MOST_NAMED ? [{ label: 'And more', value: `${open.length - MOST_NAMED} without an end` }] : []),
    ],
    tone: 'alarm',
    path: `/runs/${encodeURIComponent(run.run_id)}`,
    reference: toOneLine(run.run_id),
  }
}

function factsOf(operation: ShownOperation): AlertDescription['facts'] {
  return [
    { label: 'What', value: capitalise(nameAction(operation)) },
    { label: 'Provider', value: PROVIDER_NAMES[operation.provider] },
    { label: operation.kind === 'refund' ? 'Payment' : 'Subscription', value: operation.subject },
    { label: 'Connection', value: operation.connection_id },
    { label: 'Operation', value: operation.operation_id },
  ]
}

/** Replaces line breaks, which names given by callers may contain and headlines must not. */
function toOneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}
