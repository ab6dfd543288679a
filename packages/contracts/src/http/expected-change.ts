import { z } from 'zod'
import { Currency, Timestamp } from '../actions/operation.ts'
import { containsEmailAddress } from '../actions/personal-data.ts'
import { ActionKind } from '../providers.ts'
import { LimitInterval } from '../values/period.ts'
import { ProviderId } from '../values/provider-id.ts'

/** How long an expected change is valid, in seconds. */
const DEFAULT_EXPIRY_S = 86_400
const MAX_EXPIRY_S = 30 * 86_400
/** With limits that apply to each period, so that a person looks at it once a year. */
const MAX_EXPIRY_WITH_INTERVAL_S = 366 * 86_400

/** Limits the size of the document that records the covered changes. With an interval, each period has its own. */
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
    customer_id: ProviderId.optional().describe(
      'Covers only changes of this customer, by the id that the account of the connection gives it; if omitted, of every customer. Requires connection_id',
    ),
    actor_id: z
      .string()
      .optional()
      .describe('Covers only changes that this actor made (`actor_id` of an action); if omitted, of every actor'),
    interval: LimitInterval.optional().describe(
      'Applies max_changes and max_amount to each of these periods, in UTC: a day from midnight, a week from Monday, a month from its first day. The time of the change at the provider decides. If omitted, they apply in total',
    ),
    max_changes: z
      .int()
      .min(1)
      .max(MAX_CHANGES)
      .optional()
      .describe(`Maximum number of covered changes. Default: 1, or ${MAX_CHANGES} with both interval and max_amount`),
    max_amount: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .optional()
      .describe('Maximum of covered minor units, of all covered changes together; if omitted, no limit. Refunds only'),
    note: z.string().trim().min(1).max(500).describe('Why the change is expected; shown with the verdict'),
    starts_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(
        'Covers changes that the provider makes at this time or later. If omitted: changes made after its creation, and changes that have an open incident or a pending second look at its creation',
      ),
    expires_in_seconds: z
      .int()
      .min(60)
      .max(MAX_EXPIRY_WITH_INTERVAL_S)
      .default(DEFAULT_EXPIRY_S)
      .describe('At most 30 days, and at most 366 days with an interval'),
  })
  .refine(
    change => (change.amount === undefined && change.max_amount === undefined) === (change.currency === undefined),
    { path: ['currency'], message: 'Give currency together with amount or max_amount' },
  )
  .refine(change => change.kind === 'refund' || change.max_amount === undefined, {
    path: ['max_amount'],
    message: 'Leave out max_amount: a cancellation moves no money',
  })
  .refine(
    change => change.interval === undefined || change.max_changes !== undefined || change.max_amount !== undefined,
    {
      path: ['interval'],
      message: 'Give max_changes or max_amount with it: how much of each period is expected',
    },
  )
  .refine(change => change.interval !== undefined || change.expires_in_seconds <= MAX_EXPIRY_S, {
    path: ['expires_in_seconds'],
    message: `Give at most ${MAX_EXPIRY_S}, or an interval for the limits`,
  })
  .refine(change => change.customer_id === undefined || change.connection_id !== undefined, {
    path: ['customer_id'],
    message: 'Give connection_id with it: two accounts may give the same id to different customers',
  })
  .refine(({ customer_id: id }) => id === undefined || !containsEmailAddress(id), {
    path: ['customer_id'],
    message: 'Give an id without an e-mail address: those are erased, and cannot be compared later',
  })

/** The maximum number of covered changes, if the body leaves it out. */
export function defaultMaxChanges({
  interval,
  max_amount,
}: Pick<z.output<typeof NewExpectedChange>, 'interval' | 'max_amount'>): number {
  return interval === undefined || max_amount === undefined ? 1 : MAX_CHANGES
}

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
  customer_id: z.string().nullable().describe('Covers only changes of this customer; null if of every customer'),
  actor_id: z.string().nullable().describe('Covers only changes that this actor made; null if of every actor'),
  interval: LimitInterval.nullable().describe(
    'The period in UTC that `max_changes` and `max_amount` apply to; null if they apply in total',
  ),
  max_changes: z.int().describe('Maximum number of covered changes; with an interval, of each period'),
  changes_covered: z
    .int()
    .describe('Number of changes covered so far; with an interval, of the current or last period'),
  max_amount: z
    .int()
    .nullable()
    .describe('Maximum of covered minor units; with an interval, of each period; null if there is no limit'),
  amount_covered: z
    .int()
    .nullable()
    .describe(
      'Minor units of `currency` covered so far; with an interval, of the current or last period; null if no currency was given',
    ),
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

/** A change that an expected change covers, as the API lists it. */
export const ExpectedChangeUse = z.object({
  action_id: z.string(),
  period_start: z.iso
    .date()
    .nullable()
    .describe('The first day (UTC) of the period that it counts in; null if the limits apply in total'),
  amount: z.int().describe('Minor units that it counts; 0 if no money moved'),
  currency: Currency.nullable(),
  subject: z.string().nullable().describe('Payment or subscription id; null if the action is not listed any more'),
  provider_ref: z.string().nullable(),
  provider_created_at: Timestamp.nullable(),
})
export type ExpectedChangeUse = z.infer<typeof ExpectedChangeUse>
