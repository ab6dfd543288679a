/** Refusals of the pure middle as errors that say what stands in the way and what to do. */
import { type Budget, formatMoney, type NewOperation, type Operation, type OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { leftOf, type PeriodAccount } from './rules/budget.ts'
import type { BadTime, TimeRefusal, Transitioned } from './rules/operation.ts'

type Reason = Extract<Transitioned, { kind: 'refused' }>['reason']

const ASK_FOR_APPROVAL =
  'its project requires approval, which POST /v1/operations/{id}/approve gives with a key that has the scope approvals:write'

const TEXTS: Record<Reason, (operation: Operation, to: OperationState) => string> = {
  already_ended: ({ state }) => `it has ended as ${state}; report a new operation instead`,
  would_go_back: ({ state }, to) => `it is ${state}, and ${to} lies behind that`,
  approval_not_asked: (_, to) => `it cannot be ${to} before approval was asked for; report approval_pending first`,
  approval_is_not_yours: () => ASK_FOR_APPROVAL,
  deadline_passed: ({ approval }) =>
    `the time to decide ended at ${approval?.deadline_at}; report a new operation instead`,
  already_decided: () => 'it was approved already; report failed if it is not to be executed',
  other_provider_ref: ({ provider_ref }) =>
    `it names provider_ref ${provider_ref}; report another operation for another`,
}

/** A refused transition as an error that says what stands in the way; the reason word is in the details. */
export function refusedTransition(operation: Operation, to: OperationState, reason: Reason): AppError {
  return new AppError(
    reason === 'other_provider_ref' ? 'conflict' : 'illegal_transition',
    `Operation ${operation.operation_id} cannot become ${to}: ${TEXTS[reason](operation, to)}`,
    { details: { operation_id: operation.operation_id, from: operation.state, to, reason } },
  )
}

/** A report of an operation as approved, where approval is not the reporter's to give. */
export function refusedApproval(): AppError {
  const reason: Reason = 'approval_is_not_yours'
  return new AppError('illegal_transition', `The operation cannot be reported as approved: ${ASK_FOR_APPROVAL}`, {
    details: { to: 'approved', reason },
  })
}

const TIME_REFUSALS: Record<TimeRefusal, string> = {
  state_has_not_executed: 'The reported state comes before executing, so it has no such time',
  state_has_not_ended: 'The reported state is no end state, so it has no such time',
  lies_in_the_future: 'The time lies more than 5 minutes ahead of our clock',
  ends_before_it_began: 'The operation cannot end before it began executing',
}

export function refusedTime({ field, reason }: BadTime): AppError {
  return refusedField(`body.${field}`, TIME_REFUSALS[reason])
}

/** A run that is to have failed in the future. */
export function refusedFailureTime(): AppError {
  return refusedField('body.failed_at', TIME_REFUSALS.lies_in_the_future)
}

/** A refund that is asked for without what a budget counts. */
export function refusedUncountable(budget: Budget): AppError {
  return refusedField(
    'body.amount',
    `Give amount and currency: budget ${budget.budget_id} counts what refunds on this connection ask for`,
  )
}

function refusedField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { details: { errors: [{ path, message }] } })
}

/** A request that does not fit into a budget. */
export function refusedByBudget(operation: Operation, budget: Budget, account: PeriodAccount): AppError {
  const money = (minorUnits: number) => formatMoney(minorUnits, budget.currency)
  const left = leftOf(budget, account)
  const until = new Date(account.endsAt).toISOString()
  return new AppError(
    'budget_exceeded',
    `Budget ${budget.budget_id} (${money(budget.cap)} a ${budget.interval}) has ${money(left)} left until ${until}, ` +
      `and the operation asks for ${money(operation.amount ?? 0)}; ask for less, wait, or have the cap raised`,
    { details: { budget: { budget_id: budget.budget_id, left, currency: budget.currency, period_ends_at: until } } },
  )
}

/** A report under a key that another operation was reported under. */
export function refusedReport(stored: Operation, reported: NewOperation, field: string): AppError {
  const difference =
    field === 'state' ? `is ${stored.state}, from where it cannot become ${reported.state}` : `has another ${field}`
  return new AppError(
    'idempotency_conflict',
    `Operation ${stored.operation_id}, reported under this idempotency_key before, ${difference}; ` +
      'use another key for another operation',
  )
}
