import { z } from 'zod'
import { Currency, Timestamp } from '../operation.ts'
import { ProviderId } from '../provider-id.ts'
import { ActionKind } from '../providers.ts'
import { ListQuery } from './list.ts'

/** How long a note is good for when nothing else is asked for, and at most, in seconds. */
const DEFAULT_EXPIRY_S = 86_400
const MAX_EXPIRY_S = 30 * 86_400

/** More than any person means to note at once, and few enough for one document. */
const MAX_CHANGES = 1_000

/** A person's note that changes will come, or came, that no operation tells of. */
export const NewExpectedChange = z
  .strictObject({
    project_id: z.string(),
    connection_id: z
      .string()
      .optional()
      .describe('Through this connection only; without it through any of the project'),
    kind: ActionKind,
    subject: ProviderId.optional().describe('Payment or subscription id; without it on any'),
    amount: z.int().min(0).optional().describe('Minor units of each change; without it of any amount'),
    currency: z
      .string()
      .toLowerCase()
      .pipe(Currency)
      .optional()
      .describe('ISO 4217; required with amount and max_amount, because a number alone says nothing'),
    max_changes: z.int().min(1).max(MAX_CHANGES).default(1).describe('How many changes it covers'),
    max_amount: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Minor units that it covers in total; without it any. For refunds'),
    note: z.string().trim().min(1).max(500).describe('Why it is expected: whoever reads the verdict reads this'),
    starts_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'It covers what the provider makes from then on. Without it: from when it is noted, and what has an open incident or a second look to come then',
      ),
    expires_in_seconds: z.int().min(60).max(MAX_EXPIRY_S).default(DEFAULT_EXPIRY_S),
  })
  .refine(
    change => (change.amount === undefined && change.max_amount === undefined) === (change.currency === undefined),
    { path: ['currency'], message: 'Give currency together with amount or max_amount' },
  )
  .refine(change => change.kind === 'refund' || change.max_amount === undefined, {
    path: ['max_amount'],
    message: 'Leave max_amount out: a cancellation moves no money',
  })

export const ExpectedChange = z.object({
  expected_change_id: z.string(),
  project_id: z.string(),
  connection_id: z.string().nullable(),
  kind: ActionKind,
  subject: z.string().nullable(),
  amount: z.int().nullable(),
  currency: Currency.nullable(),
  max_changes: z.int().describe('How many changes it covers'),
  changes_covered: z.int().describe('How many it covers already'),
  max_amount: z.int().nullable().describe('Minor units that it covers in total; null for any'),
  amount_covered: z
    .int()
    .nullable()
    .describe('Minor units of `currency` that it covers already; null without a currency'),
  note: z.string(),
  created_by: z.string().describe('The API key that made it'),
  created_at: Timestamp,
  starts_at: Timestamp.nullable().describe(
    'It covers what the provider makes from this time on; null where none was given',
  ),
  expires_at: Timestamp.describe('It covers what the provider makes before this time'),
})
export type ExpectedChange = z.infer<typeof ExpectedChange>

export const ExpectedChangeQuery = ListQuery.extend({ project_id: z.string().optional() })
