import { z } from 'zod'
import { ActionKind, ProviderKind } from './providers.ts'

/** The states of an operation (DESIGN, "Operations"): what the team's software says it is doing. */
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
  // It was sent, and what was sent may have worked all the same.
  failed: true,
  rejected: true,
}

/** Whether an operation in this state was ever sent to the provider. Only what was sent can explain an action. */
export function hasExecuted(state: OperationState): boolean {
  return HAS_EXECUTED[state]
}

/** ISO 8601 in UTC with milliseconds, e.g. 2026-11-21T10:00:00.000Z. */
export const Timestamp = z.iso.datetime({ precision: 3 })

/** ISO 4217 in lower case: providers differ in case, so everything inside Backstop is folded to lower. */
export const Currency = z.string().regex(/^[a-z]{3}$/)

/** The approval that an operation waits, or waited, for. */
export const Approval = z.object({
  /** Whether its project required it when the operation was reported; else the reporter asked for it. */
  required: z.boolean(),
  requested_at: Timestamp,
  /** Half-time: when people are reminded, if nobody has decided. */
  remind_at: Timestamp,
  /** When it expires undecided. */
  deadline_at: Timestamp,
  reminded_at: Timestamp.nullable(),
  decided_at: Timestamp.nullable(),
  /** The API key that approved or declined; null while it is open, after it expired, and where the reporter said so. */
  decided_by: z.string().nullable(),
})
export type Approval = z.infer<typeof Approval>

/** How an operation came to execute without the approval that it needed. */
export const ApprovalGap = z.enum([
  /** Its project requires approval, and it was first heard of when it had begun. */
  'never_asked',
  /** It did not wait for the decision. */
  'outstanding',
  /** It was executed against the decision, or after nobody had decided in time. */
  'declined',
  'expired',
])
export type ApprovalGap = z.infer<typeof ApprovalGap>

/** What one operation takes of one budget, in the period in which it was asked for, whenever it ends. */
export const BudgetShare = z.object({
  budget_id: z.string(),
  /** The first day of the period, UTC. */
  period_start: z.iso.date(),
  /** Minor units of the operation's currency, which is the budget's. */
  amount: z.int().min(0),
  state: z.enum(['reserved', 'spent', 'released']),
})
export type BudgetShare = z.infer<typeof BudgetShare>

/** One refund or cancellation as the execution feature reports it: stored by the ledger and sent whole on `operations`. */
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
  /** Null where none was asked for; absent in what was written before approvals were kept, as are the next two. */
  approval: Approval.nullable().optional(),
  /** Set for good once it executed without the approval that it needed: it explains nothing. */
  unapproved: ApprovalGap.nullable().optional(),
  budgets: z.array(BudgetShare).optional(),
})
export type Operation = z.infer<typeof Operation>

/** An operation as the API and alerts show it; `refs` stay inside. */
export const ShownOperation = Operation.omit({ refs: true })
export type ShownOperation = z.infer<typeof ShownOperation>

/** An operation without what stays inside. */
export function showOperation({ refs: _inside, ...operation }: Operation): ShownOperation {
  return operation
}
