import type { Budget, ErrorCode, NewOperation, Operation, OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { TimeRefusal, TransitionResult } from './rules/operation.ts'

/** Why the ledger refuses a call, with the facts for the caller's error message. */
export type Refusal =
  | {
      readonly kind: 'transition'
      readonly operation: Operation
      readonly to: OperationState
      readonly reason: Extract<TransitionResult, { kind: 'refused' }>['reason']
    }
  /** An operation was reported as approved in a project where only people approve. */
  | { readonly kind: 'reported_as_approved' }
  | {
      readonly kind: 'time'
      readonly field: 'executing_at' | 'ended_at' | 'failed_at'
      readonly reason: TimeRefusal
    }
  /** The budget applies to the operation, but the operation has no amount or no currency. */
  | { readonly kind: 'uncountable'; readonly budget: Budget }
  | {
      readonly kind: 'budget_exceeded'
      readonly operation: Operation
      readonly budget: Budget
      /** In minor units. */
      readonly left: number
      readonly periodEndsAt: string
    }
  /** Another operation was reported with the same idempotency key. `field` is a field that differs (compareReport). */
  | {
      readonly kind: 'report_differs'
      readonly stored: Operation
      readonly reported: NewOperation
      readonly field: string
    }

/**
 * A refused call. The ledger does not know the routes and fields of its callers, so each caller writes its own error
 * text. The message of this error is for the log.
 */
export class LedgerRefusal extends AppError {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    const { code, message, details } = factsOf(refusal)
    super(code, message, { details })
    this.name = 'LedgerRefusal'
    this.refusal = refusal
  }
}

interface RefusalFacts {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Record<string, unknown>
}

function factsOf(refusal: Refusal): RefusalFacts {
  switch (refusal.kind) {
    case 'transition': {
      const { operation, to, reason } = refusal
      return {
        code: reason === 'other_provider_ref' ? 'conflict' : 'illegal_transition',
        message: `Operation ${operation.operation_id} cannot become ${to}: ${reason}`,
        details: { operation_id: operation.operation_id, from: operation.state, to, reason },
      }
    }
    case 'reported_as_approved':
      return {
        code: 'illegal_transition',
        message: 'An operation cannot be reported as approved in a project where only people approve',
        details: { to: 'approved', reason: 'approval_is_not_yours' },
      }
    case 'time': {
      const { field, reason } = refusal
      return { code: 'invalid_request', message: `${field} is refused: ${reason}`, details: { field, reason } }
    }
    case 'uncountable': {
      const { budget_id } = refusal.budget
      return {
        code: 'invalid_request',
        message: `Budget ${budget_id} needs amount and currency`,
        details: { budget_id },
      }
    }
    case 'budget_exceeded': {
      const { budget, left } = refusal
      const message = `The operation does not fit into budget ${budget.budget_id}`
      return { code: 'budget_exceeded', message, details: { budget_id: budget.budget_id, left } }
    }
    case 'report_differs': {
      const { stored, field } = refusal
      const { operation_id } = stored
      return {
        code: 'idempotency_conflict',
        message: `Operation ${operation_id} has the same idempotency key and another ${field}`,
        details: { operation_id, field },
      }
    }
    default:
      return refusal satisfies never
  }
}
