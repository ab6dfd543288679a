import { z } from 'zod'
import { Operation, OperationState } from '../operation.ts'
import { ActionKind } from '../providers.ts'
import { ListQuery } from './list.ts'

/** An id that a provider gave: printable ASCII without spaces, so that it fits into keys, logs and mails as it is. */
const ProviderId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'Use the id as the provider gave it')
const When = z.iso.datetime({ offset: true })

export const NewOperation = z
  .strictObject({
    connection_id: z.string(),
    kind: ActionKind,
    subject: ProviderId.describe('Payment or subscription id at the provider'),
    amount: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional().describe('Minor units'),
    currency: z
      .string()
      .regex(/^[A-Za-z]{3}$/)
      .transform(code => code.toLowerCase())
      .optional()
      .describe('ISO 4217'),
    provider_ref: ProviderId.optional().describe("The provider's id of the refund or cancellation"),
    idempotency_key: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe('The key sent to the provider; reporting it again answers the same operation'),
    state: OperationState.default('requested'),
    executing_at: When.optional().describe('When it began executing, if that was before this report'),
    ended_at: When.optional().describe('When it ended, if that was before this report'),
    run_id: z.string().min(1).max(255).optional(),
    reason: z.string().max(2000).optional(),
  })
  .refine(operation => (operation.amount === undefined) === (operation.currency === undefined), {
    message: 'Give amount and currency together',
    path: ['currency'],
  })
export type NewOperation = z.infer<typeof NewOperation>

export const NewTransition = z.strictObject({
  to: OperationState,
  provider_ref: ProviderId.optional(),
  reason: z.string().max(2000).optional(),
})
export type NewTransition = z.infer<typeof NewTransition>

/** An operation as the API shows it; `refs` stay inside. */
export const ShownOperation = Operation.omit({ refs: true })
export type ShownOperation = z.infer<typeof ShownOperation>

export const OperationQuery = ListQuery.extend({
  project_id: z.string().optional(),
  connection_id: z.string().optional(),
  state: OperationState.optional(),
  subject: z.string().optional(),
})
