import { z } from 'zod'
import { OperationState } from '../operation.ts'
import { ProviderId } from '../provider-id.ts'
import { ActionKind } from '../providers.ts'
import { ListQuery } from './list.ts'
import { CurrencyCode } from './money.ts'

const When = z.iso.datetime({ offset: true })

/**
 * A field that may be left out, or be null, which is the same: programs that print every field of theirs print null, and the
 * API's own answers do.
 */
const optional = <S extends z.ZodType>(schema: S) =>
  schema
    .nullable()
    .transform(value => value ?? undefined)
    .optional()

const executing_at = optional(When).describe('When it began executing, if that was before this report')
const ended_at = optional(When).describe('When it ended, if that was before this report')
const provider_ref = optional(ProviderId).describe("The provider's id of the refund or cancellation")
const reason = optional(z.string().max(2000))

export const NewOperation = z.strictObject({
  connection_id: z.string(),
  kind: ActionKind,
  subject: ProviderId.describe('Payment or subscription id at the provider'),
  amount: optional(z.int().min(0).max(Number.MAX_SAFE_INTEGER)).describe('Minor units'),
  currency: optional(CurrencyCode).describe(
    'ISO 4217; without it only provider_ref or idempotency_key can explain a refund',
  ),
  provider_ref,
  idempotency_key: optional(z.string().min(1).max(255)).describe(
    'The key sent to the provider; reporting it again answers the same operation, moved on if the report goes further',
  ),
  state: OperationState.default('requested'),
  executing_at,
  ended_at,
  run_id: optional(z.string().min(1).max(255)),
  reason,
})
export type NewOperation = z.infer<typeof NewOperation>

export const NewTransition = z.strictObject({ to: OperationState, provider_ref, executing_at, ended_at, reason })
export type NewTransition = z.infer<typeof NewTransition>

export const OperationQuery = ListQuery.extend({
  project_id: z.string().optional(),
  connection_id: z.string().optional(),
  state: OperationState.optional(),
  subject: z.string().optional(),
  run_id: z.string().optional(),
})

/** A decision on an operation that waits for approval. */
export const ApprovalDecision = z.strictObject({ reason })
