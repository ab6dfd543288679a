import { z } from 'zod'
import { Currency, Timestamp } from '../actions/operation.ts'
import { ActionKind } from '../providers.ts'
import { ProviderId } from '../values/provider-id.ts'

/** How long an expected change is valid, in seconds. */
const DEFAULT_EXPIRY_S = 86_400
const MAX_EXPIRY_S = 30 * 86_400

/** Limits the size of the document that records the covered changes. */
const MAX_CHANGES = 1_000

/** The body of POST /v1/expected-changes. */
export const NewExpectedChange = z
  .strictObject({
    project_id: z.string(),
    connection_id: z
      .string()
      .optional()
      .describe('Covers only changes of this connection; if omitted, of every connection of the project'),
    kind: ActionKind,
    subject: ProviderId.optional().describe('Payment or subscription id; if omitted, any'),
    amount: z.int().min(0).optional().describe('Minor units of each change; if omitted, any amount'),
    currency: z
      .string()
      .toLowerCase()
      .pipe(Currency)
      .optional()
      .describe('ISO 4217; required with amount or max_amount'),
    max_changes: z.int().min(1).max(MAX_CHANGES).default(1).describe('Maximum number of covered changes'),
    max_amount: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Maximum of covered minor units in total; if omitted, no limit. Refunds only'),
    note: z.string().trim().min(1).max(500).describe('Why the change is expected; shown with the verdict'),
    starts_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'Covers changes that the provider makes at this time or later. If omitted: changes made after its creation, and changes that have an open incident or a pending second look at its creation',
      ),
    expires_in_seconds: z.int().min(60).max(MAX_EXPIRY_S).default(DEFAULT_EXPIRY_S),
  })
  .refine(
    change => (change.amount === undefined && change.max_amount === undefined) === (change.currency === undefined),
    { path: ['currency'], message: 'Give currency together with amount or max_amount' },
  )
  .refine(change => change.kind === 'refund' || change.max_amount === undefined, {
    path: ['max_amount'],
    message: 'Leave out max_amount: a cancellation moves no money',
  })

/** An expected change as the API answers it. */
export const ExpectedChange = z.object({
  expected_change_id: z.string(),
  project_id: z.string(),
  incident_id: z
    .string()
    .nullable()
    .describe(
      'Covers only the action of this incident, and only if the incident is resolved as our own change; null if it is not about an incident',
    ),
  connection_id: z.string().nullable(),
  kind: ActionKind,
  subject: z.string().nullable(),
  amount: z.int().nullable(),
  currency: Currency.nullable(),
  max_changes: z.int().describe('Maximum number of covered changes'),
  changes_covered: z.int().describe('Number of changes covered so far'),
  max_amount: z.int().nullable().describe('Maximum of covered minor units in total; null if there is no limit'),
  amount_covered: z
    .int()
    .nullable()
    .describe('Minor units of `currency` covered so far; null if no currency was given'),
  note: z.string(),
  created_by: z.string().describe('The API key that created the expected change'),
  created_at: Timestamp,
  starts_at: Timestamp.nullable().describe(
    'Covers changes that the provider makes at this time or later; null if no time was given',
  ),
  expires_at: Timestamp.describe('Covers changes that the provider makes before this time'),
  deleted_at: Timestamp.nullable().describe('A deleted expected change covers nothing more; null if it is not deleted'),
  deleted_by: z.string().nullable().describe('The API key that deleted the expected change'),
})
export type ExpectedChange = z.infer<typeof ExpectedChange>
