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
    const details = detailsOf(refusal)
    super(codeOf(refusal), `The ledger refuses the call (${refusal.kind}): ${JSON.stringify(details)}`, { details })
    this.name = 'LedgerRefusal'
    this.refusal = refusal
  }
}

function codeOf(refusal: Refusal): ErrorCode {
  switch (refusal.kind) {
    case 'transition':
      return refusal.reason === 'other_provider_ref' ? 'conflict' : 'illegal_transition'
    case 'reported_as_approved':
      return 'illegal_transition'
    case 'time':
    case 'uncountable':
      return 'invalid_request'
    case 'budget_exceeded':
      return 'budget_exceeded'
    case 'report_differs':
      return 'idempotency_conflict'
    default:
      return refusal satisfies never
  }
}

function detailsOf(refusal: Refusal): Record<string, unknown> {
  switch (refusal.kind) {
    case 'transition': {
      const { operation, to, reason } = refusal
      return { operation_id: operation.operation_id, from: operation.state, to, reason }
    }
    case 'reported_as_approved':
      return { to: 'approved', reason: 'approval_is_not_yours' }
    case 'time':
      return { field: refusal.field, reason: refusal.reason }
    case 'uncountable':
      return { budget_id: refusal.budget.budget_id }
    case 'budget_exceeded':
      return { budget_id: refusal.budget.budget_id, left: refusal.left }
    case 'report_differs':
      return { operation_id: refusal.stored.operation_id, field: refusal.field }
    default:
      return refusal satisfies never
  }
}
