import type { Operation, OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Transitioned } from './domain/operation.ts'

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
export function describeRefusal(operation: Operation, to: OperationState, reason: Reason): AppError {
  return new AppError(
    reason === 'other_provider_ref' ? 'conflict' : 'illegal_transition',
    `Operation ${operation.operation_id} cannot become ${to}: ${TEXTS[reason](operation, to)}`,
    { details: { operation_id: operation.operation_id, from: operation.state, to, reason } },
  )
}
