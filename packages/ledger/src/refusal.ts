/** Refusals of the pure middle as errors that say what stands in the way and what to do. */
import type { NewOperation, Operation, OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { BadTime, TimeRefusal, Transitioned } from './domain/operation.ts'

type Reason = Extract<Transitioned, { kind: 'refused' }>['reason']

const TEXTS: Record<Reason, (operation: Operation, to: OperationState) => string> = {
  already_ended: ({ state }) => `it has ended as ${state}; report a new operation instead`,
  would_go_back: ({ state }, to) => `it is ${state}, and ${to} lies behind that`,
  approval_not_asked: (_, to) => `it cannot be ${to} before approval was asked for; report approval_pending first`,
  approval_outstanding: () => 'its approval is outstanding; report approved, declined or expired first',
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

const TIME_REFUSALS: Record<TimeRefusal, string> = {
  state_has_not_executed: 'The reported state comes before executing, so it has no such time',
  state_has_not_ended: 'The reported state is no end state, so it has no such time',
  lies_in_the_future: 'The time lies more than 5 minutes ahead of our clock',
  ends_before_it_began: 'The operation cannot end before it began executing',
}

export function refusedTime({ field, reason }: BadTime): AppError {
  const path = `body.${field}`
  return new AppError('invalid_request', `${path}: ${TIME_REFUSALS[reason]}`, {
    details: { errors: [{ path, message: TIME_REFUSALS[reason] }] },
  })
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
