import { z } from 'zod'
import { ActionKind, ProviderKind } from '../providers.ts'

/** The states of an operation, as the customer's software reports them (docs/operations.md). */
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
  // A failed operation was sent to the provider, where it may still have succeeded.
  failed: true,
  rejected: true,
}

/** True if an operation in this state was sent to the provider. Only then can it explain an action. */
export function hasExecuted(state: OperationState): boolean {
  return HAS_EXECUTED[state]
}

/** ISO 8601 in UTC with milliseconds, e.g. 2026-11-21T10:00:00.000Z. */
export const Timestamp = z.iso.datetime({ precision: 3 })

/** ISO 4217 in lower case. Providers differ in case, so Backstop converts it. */
export const Currency = z.string().regex(/^[a-z]{3}$/)

/** The approval of an operation. */
export const Approval = z.object({
  /** True if the project required the approval when the operation was reported. If false, the reporter asked for it. */
  required: z.boolean(),
  requested_at: Timestamp,
  /** When the reminder is sent if there is no decision yet: after half of the time. */
  remind_at: Timestamp,
  /** When the operation expires if there is no decision yet. */
  deadline_at: Timestamp,
  reminded_at: Timestamp.nullable(),
  decided_at: Timestamp.nullable(),
  /** The API key that approved or declined. Null if the approval is undecided or expired, or if the reporter decided. */
  decided_by: z.string().nullable(),
})
export type Approval = z.infer<typeof Approval>

/** Why an operation that needed approval was executed without it. */
export const ApprovalGap = z.enum([
  /** The operation was executing when it was first reported. */
  'never_asked',
  /** The operation began executing before the decision. */
  'outstanding',
  /** The operation began executing although it was declined. */
  'declined',
  /** The operation began executing although its approval had expired. */
  'expired',
])
export type ApprovalGap = z.infer<typeof ApprovalGap>

/** The amount that an operation takes from one budget, in the period in which it was requested. */
export const BudgetShare = z.object({
  budget_id: z.string(),
  /** The first day of the period in UTC. */
  period_start: z.iso.date(),
  /** Minor units of the budget's currency, which is also the operation's. */
  amount: z.int().min(0),
  state: z.enum(['reserved', 'spent', 'released']),
})
export type BudgetShare = z.infer<typeof BudgetShare>

/** A refund or cancellation that the customer's software reports. The ledger stores it and publishes every version on `operations`. */
export const Operation = z.object({
  operation_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  /** Grows by one with each change, so that an older copy never replaces a newer one. */
  version: z.int().min(1),
  kind: ActionKind,
  /** The payment or subscription id at the provider. */
  subject: z.string(),
  /** Minor units of `currency`. */
  amount: z.int().min(0).nullable(),
  currency: Currency.nullable(),
  /** The provider's id of the refund or cancellation; null until it is known. */
  provider_ref: z.string().nullable(),
  idempotency_key: z.string().nullable(),
  run_id: z.string().nullable(),
  state: OperationState,
  reason: z.string().nullable(),
  /** When the operation began executing and when it reached an end state, as reported; null before. */
  executing_at: Timestamp.nullable(),
  ended_at: Timestamp.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
  /** References of every object and key that the operation names (see references.ts). */
  refs: z.array(z.string()),
  /** Null if the operation needed no approval. This field and the next two are absent in older messages. */
  approval: Approval.nullable().optional(),
  /** Set permanently when the operation was executed without a required approval. It then explains nothing. */
  unapproved: ApprovalGap.nullable().optional(),
  budgets: z.array(BudgetShare).optional(),
  /** The API key or person that reported the operation first, who may not approve it. Null or absent if it is not known. */
  reported_by: z.string().nullable().optional(),
  /** The provider's id of the request that made the call. Null if it is not known, absent in older messages. */
  provider_request_id: z.string().nullable().optional(),
})
export type Operation = z.infer<typeof Operation>

/** An operation as the API and alerts show it, without the internal `refs`. */
export const ShownOperation = Operation.omit({ refs: true })
export type ShownOperation = z.infer<typeof ShownOperation>

/** An operation as its own GET shows it. */
export const NamedOperation = ShownOperation.extend({
  decided_by_name: z
    .string()
    .nullable()
    .describe('The name of the API key or person in `approval.decided_by`; null if there is none, or it was deleted'),
})

/** An operation without its internal fields. */
export function showOperation({ refs: _inside, ...operation }: Operation): ShownOperation {
  return operation
}
