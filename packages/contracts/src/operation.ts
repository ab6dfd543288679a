import { z } from 'zod'
import { ActionKind, ProviderKind } from './providers.ts'

/** The states of an operation: how far the customer's software says that it is (docs/operations.md). */
export const OperationState = z.enum([
  'requested',
  'approval_pending',
  'approved',
  'declined',
  'expired',
  'executing',
  'awaiting_review',
  'completed',
  'failed',
  'rejected',
])
export type OperationState = z.infer<typeof OperationState>

const HAS_EXECUTED: Record<OperationState, boolean> = {
  requested: false,
  approval_pending: false,
  approved: false,
  declined: false,
  expired: false,
  executing: true,
  awaiting_review: true,
  completed: true,
  // It was sent, and may have succeeded at the provider all the same.
  failed: true,
  rejected: true,
}

/** Whether an operation in this state was sent to the provider. Only then can it explain an action. */
export function hasExecuted(state: OperationState): boolean {
  return HAS_EXECUTED[state]
}

/** ISO 8601 in UTC with milliseconds, e.g. 2026-11-21T10:00:00.000Z. */
export const Timestamp = z.iso.datetime({ precision: 3 })

/** ISO 4217 in lower case. Providers differ in case, so Backstop folds it. */
export const Currency = z.string().regex(/^[a-z]{3}$/)

/** The approval of an operation. */
export const Approval = z.object({
  /** Whether the project required it when the operation was reported. If not, the reporter asked for it. */
  required: z.boolean(),
  requested_at: Timestamp,
  /** Half of the time: when the reminder is sent, if nobody has decided. */
  remind_at: Timestamp,
  /** When it expires, if nobody has decided. */
  deadline_at: Timestamp,
  reminded_at: Timestamp.nullable(),
  decided_at: Timestamp.nullable(),
  /** The API key that approved or declined. Null: undecided, expired, or decided by the reporter. */
  decided_by: z.string().nullable(),
})
export type Approval = z.infer<typeof Approval>

/** How an operation executed without the approval that it needed. */
export const ApprovalGap = z.enum([
  /** It was first reported when it had begun already. */
  'never_asked',
  /** It began before the decision. */
  'outstanding',
  /** It began although it was declined. */
  'declined',
  /** It began although its approval had expired. */
  'expired',
])
export type ApprovalGap = z.infer<typeof ApprovalGap>

/** The share of one budget that an operation takes, in the period in which it was requested. */
export const BudgetShare = z.object({
  budget_id: z.string(),
  /** The first day of the period, UTC. */
  period_start: z.iso.date(),
  /** Minor units of the operation's currency, which is the budget's. */
  amount: z.int().min(0),
  state: z.enum(['reserved', 'spent', 'released']),
})
export type BudgetShare = z.infer<typeof BudgetShare>

/** A refund or cancellation that the customer's software reports: stored by the ledger, published whole on `operations`. */
export const Operation = z.object({
  operation_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  /** Grows by one with each change: an older copy never replaces a newer one. */
  version: z.int().min(1),
  kind: ActionKind,
  /** Payment or subscription id at the provider. */
  subject: z.string(),
  /** Minor units of `currency`. */
  amount: z.int().min(0).nullable(),
  currency: Currency.nullable(),
  /** The provider's id of the refund or cancellation, once known. */
  provider_ref: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  run_id: z.string().nullable(),
  state: OperationState,
  reason: z.string().nullable(),
  /** When it began executing and when it reached an end state, as reported; null before. */
  executing_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** References of every object and key that the operation names (see references.ts). */
  refs: z.array(z.string()),
  /** Null: it needed none. This field and the next two are absent in older messages. */
  approval: Approval.nullable().optional(),
  /** Set, and never cleared, once it executed without the approval that it needed: it then explains nothing. */
  unapproved: ApprovalGap.nullable().optional(),
  budgets: z.array(BudgetShare).optional(),
})
export type Operation = z.infer<typeof Operation>

/** An operation as the API and alerts show it, without the internal `refs`. */
export const ShownOperation = Operation.omit({ refs: true })
export type ShownOperation = z.infer<typeof ShownOperation>

/** An operation without its internal fields. */
export function showOperation({ refs: _inside, ...operation }: Operation): ShownOperation {
  return operation
}
