import { z } from 'zod'
import { Currency, Timestamp } from '../operation.ts'
import { ProviderId } from '../provider-id.ts'
import { ActionKind } from '../providers.ts'
import { ListQuery } from './list.ts'

/** How long a note is good for when nothing else is asked for, and at most, in seconds. */
const DEFAULT_EXPIRY_S = 86_400
const MAX_EXPIRY_S = 30 * 86_400

/** A person's note that a change will come that no operation tells of. */
export const NewExpectedChange = z
  .strictObject({
    project_id: z.string(),
    connection_id: z
      .string()
      .optional()
      .describe('Through this connection only; without it through any of the project'),
    kind: ActionKind,
    subject: ProviderId.optional().describe('Payment or subscription id; without it on any'),
    amount: z.int().min(0).optional().describe('Minor units; without it of any amount'),
    currency: z
      .string()
      .toLowerCase()
      .pipe(Currency)
      .optional()
      .describe('ISO 4217; required with an amount, because a number alone says nothing'),
    note: z.string().trim().min(1).max(500).describe('Why it is expected: whoever reads the verdict reads this'),
    expires_in_seconds: z.int().min(60).max(MAX_EXPIRY_S).default(DEFAULT_EXPIRY_S),
  })
  .refine(change => (change.amount === undefined) === (change.currency === undefined), {
    path: ['currency'],
    message: 'Give amount and currency together',
  })

export const ExpectedChange = z.object({
  expected_change_id: z.string(),
  project_id: z.string(),
  connection_id: z.string().nullable(),
  kind: ActionKind,
  subject: z.string().nullable(),
  amount: z.int().nullable(),
  currency: Currency.nullable(),
  note: z.string(),
  created_by: z.string().describe('The API key that made it'),
  created_at: Timestamp,
  expires_at: Timestamp.describe('It covers what the provider makes before this time'),
})
export type ExpectedChange = z.infer<typeof ExpectedChange>

export const ExpectedChangeQuery = ListQuery.extend({ project_id: z.string().optional() })
