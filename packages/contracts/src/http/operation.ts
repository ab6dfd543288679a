import { z } from 'zod'
import { OperationState, ShownOperation } from '../actions/operation.ts'
import { FailedRun } from '../actions/run.ts'
import { ActionKind } from '../providers.ts'
import { ProviderId } from '../values/provider-id.ts'
import { AmountFilter, CurrencyCode, IdFilter, ListQuery, Problem, TimeFilter } from './list.ts'

const TimeInput = z.iso.datetime({ offset: true })

/** An optional field that may also be null, because some programs print every field, as the API's own answers do. */
const optional = <S extends z.ZodType>(schema: S) =>
  schema
    .nullable()
    .transform(value => value ?? undefined)
    .optional()

const executing_at = optional(TimeInput).describe('When the operation began executing, if that was before this report')
const ended_at = optional(TimeInput).describe('When the operation ended, if that was before this report')
const provider_ref = optional(ProviderId).describe("The provider's id of the refund or cancellation")
const provider_request_id = optional(z.string().min(1).max(255)).describe(
  "The id of the request that the provider's answer names, e.g. the header Request-Id of the card processor",
)
const reason = optional(z.string().max(2000))

/** The body of POST /v1/operations. */
export const NewOperation = z.strictObject({
  connection_id: z.string(),
  kind: ActionKind,
  subject: ProviderId.describe('Payment or subscription id at the provider'),
  amount: optional(z.int().min(0).max(Number.MAX_SAFE_INTEGER)).describe('Minor units'),
  currency: optional(CurrencyCode).describe(
    'ISO 4217; an operation without a currency explains a refund only by provider_ref, provider_request_id or idempotency_key',
  ),
  provider_ref,
  provider_request_id,
  idempotency_key: optional(z.string().min(1).max(255)).describe(
    'The idempotency key that your software sent to the provider. A repeated report answers the same operation, in the new state if that state is later',
  ),
  state: OperationState.default('requested'),
  executing_at,
  ended_at,
  run_id: optional(z.string().min(1).max(255)),
  reason,
})
export type NewOperation = z.infer<typeof NewOperation>

/** The body of POST /v1/operations/{id}/transitions. */
export const NewTransition = z.strictObject({
  to: OperationState,
  provider_ref,
  provider_request_id,
  executing_at,
  ended_at,
  reason,
})
export type NewTransition = z.infer<typeof NewTransition>

/** The most items of one batch. */
const MAX_BATCH_ITEMS = 1_000

const BatchedReport = NewOperation.extend({
  type: z.literal('report'),
  idempotency_key: z
    .string()
    .min(1)
    .max(255)
    .describe('The idempotency key that your software sent to the provider. A repeated batch is recognised by it'),
})

const BatchedTransition = NewTransition.extend({ type: z.literal('transition'), operation_id: z.string() })

/** The body of POST /v1/operations/batch. */
export const OperationBatch = z.strictObject({
  items: z
    .array(z.discriminatedUnion('type', [BatchedReport, BatchedTransition]))
    .min(1)
    .max(MAX_BATCH_ITEMS)
    .describe('Items that name one operation in the same way are carried out in their order, others at the same time'),
})
export type OperationBatch = z.infer<typeof OperationBatch>

/** The answer of POST /v1/operations/batch: the result of each item, in their order. */
export const OperationBatchResults = z.object({
  results: z.array(
    z.object({
      status: z.int().describe('The status that the item would have had as a call of its own'),
      operation: ShownOperation.nullable().describe('The operation after the item; null if the item was refused'),
      problem: Problem.nullable().describe('Why the item was refused; null if it was carried out'),
    }),
  ),
})

/** The query of GET /v1/operations. */
export const OperationQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  connection_id: IdFilter.optional(),
  kind: ActionKind.optional(),
  state: OperationState.optional(),
  subject: IdFilter.optional(),
  provider_ref: IdFilter.optional().describe("The provider's id of the refund or cancellation"),
  run_id: IdFilter.optional(),
  currency: CurrencyCode.optional(),
  min_amount: AmountFilter.optional().describe(
    'Minor units, inclusive; give currency too, or amounts of all currencies are compared',
  ),
  max_amount: AmountFilter.optional().describe('Minor units, inclusive'),
  from: TimeFilter.optional().describe('Only operations that were reported at this time or later'),
  to: TimeFilter.optional().describe('Only operations that were reported before this time'),
})

/** The body of POST /v1/operations/{id}/approve and …/decline. */
export const ApprovalDecision = z.strictObject({ reason })

/** The body of POST /v1/runs/{id}/failed. Operations name their run by `run_id`. */
export const RunFailure = z.strictObject({
  project_id: z
    .string()
    .optional()
    .describe('Default: the project of the key, or else the only project whose operations name the run'),
  reason: z.string().max(2000).nullable().optional().describe('For people: what went wrong'),
  failed_at: z.iso
    .datetime({ offset: true })
    .nullable()
    .optional()
    .describe('When the run failed; default: the time of this report'),
})
export type RunFailure = z.infer<typeof RunFailure>

/** A run with the newest of its operations. */
export const RunWithOperations = z.object({
  run_id: z.string(),
  project_id: z.string(),
  failure: FailedRun.nullable().describe('Null if the run was not reported as failed'),
  operations: z.array(ShownOperation).describe('The newest 100; GET /v1/operations?run_id=… lists all'),
})
export type RunWithOperations = z.infer<typeof RunWithOperations>
/** The query of GET /v1/runs/{id}. */
export const RunDetailQuery = z.object({
  project_id: IdFilter.optional().describe('Needed if several projects use the same run_id'),
})
