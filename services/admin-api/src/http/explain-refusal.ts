/** Explains refusals of the ledger with the paths and fields of this API, and says what the caller can do. */
import { formatMoney, type Operation, type OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { LedgerRefusal, Refusal } from '@backstop/ledger'
import { refusedField } from './refused-field.ts'

type RefusalOfKind<Kind extends Refusal['kind']> = Extract<Refusal, { kind: Kind }>

const ASK_FOR_APPROVAL =
  'its project requires approval; call POST /v1/operations/{id}/approve with a key that has the scope approvals:write'

const TRANSITIONS: Record<RefusalOfKind<'transition'>['reason'], (operation: Operation, to: OperationState) => string> =
  {
    already_ended: ({ state }) => `it has ended as ${state}; report a new operation instead`,
    would_go_back: ({ state }, to) => `it is ${state}, and ${to} comes before that`,
    approval_not_asked: (_, to) => `it cannot be ${to} before approval was requested; report approval_pending first`,
    approval_is_not_yours: () => ASK_FOR_APPROVAL,
    reporter_approves: () => 'whoever reported it may not approve it; let another key or person decide',
    deadline_passed: ({ approval }) =>
      `the deadline of the approval was ${approval?.deadline_at}; report a new operation instead`,
    already_decided: () => 'it is already approved; report failed if it will not be executed',
    other_provider_ref: ({ provider_ref }) =>
      `its provider_ref is ${provider_ref}; report another provider_ref as another operation`,
  }

const TIME_REFUSALS: Record<RefusalOfKind<'time'>['reason'], string> = {
  state_has_not_executed: 'Leave it out: the reported state comes before executing',
  state_has_not_ended: 'Leave it out: the reported state is not an end state',
  lies_in_the_future: 'The time is more than 5 minutes ahead of the server clock',
  ends_before_it_began: 'The operation cannot end before it began executing',
}

/** Converts a refusal of the ledger to an error of the API. */
export function explainRefusal({ code, details, refusal }: LedgerRefusal): AppError {
  switch (refusal.kind) {
    case 'transition': {
      const { operation, to, reason } = refusal
      const text = `Operation ${operation.operation_id} cannot become ${to}: ${TRANSITIONS[reason](operation, to)}`
      // A decision of somebody else is still possible.
      if (reason === 'reporter_approves') return new AppError('forbidden', text, { details: { reason } })
      return new AppError(code, text, { details })
    }
    case 'reported_as_approved':
      return new AppError(code, `The operation cannot be reported as approved: ${ASK_FOR_APPROVAL}`, { details })
    case 'time':
      return refusedField(`body.${refusal.field}`, TIME_REFUSALS[refusal.reason])
    case 'uncountable':
      return refusedField(
        'body.amount',
        `Give amount and currency: budget ${refusal.budget.budget_id} counts refunds of this connection`,
      )
    case 'budget_exceeded':
      return explainExceededBudget(refusal)
    case 'report_differs': {
      const { stored, reported, field } = refusal
      const difference =
        field === 'state' ? `is ${stored.state} and cannot become ${reported.state}` : `has another ${field}`
      const text = `Operation ${stored.operation_id}, reported under this idempotency_key before, ${difference}; use another key for another operation`
      return new AppError(code, text)
    }
    default:
      return refusal satisfies never
  }
}

function explainExceededBudget({ budget, left, operation, periodEndsAt }: RefusalOfKind<'budget_exceeded'>): AppError {
  const { budget_id, cap, interval, currency } = budget
  const money = (minorUnits: number) => formatMoney(minorUnits, currency)
  const text =
    `Budget ${budget_id} (${money(cap)} per ${interval}) has ${money(left)} left until ${periodEndsAt}, and the ` +
    `operation asks for ${money(operation.amount ?? 0)}: ask for less, wait for the next period, or raise the cap`
  return new AppError('budget_exceeded', text, {
    details: { budget: { budget_id, left, currency, period_ends_at: periodEndsAt } },
  })
}
