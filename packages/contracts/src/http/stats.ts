import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { Currency, Timestamp } from '../actions/operation.ts'
import { StatementLine } from '../actions/statement-line.ts'
import { Verdict } from '../actions/verdict.ts'
import { RecordKind } from '../providers.ts'
import { AccountFilter, CustomerFilter, DayOrTime, IdFilter } from './list.ts'

/** The query of GET /v1/stats. */
export const StatsQuery = z.object({
  project_id: IdFilter.optional(),
  connection_id: IdFilter.optional(),
  account: AccountFilter,
  actor_id: IdFilter.optional().describe('Only what this actor made'),
  customer_id: CustomerFilter,
  from: DayOrTime.optional().describe('A day (UTC), or a time whose day is counted. Default: 30 days before `to`'),
  to: DayOrTime.optional().describe(
    'A day (UTC) that is not counted, or a time whose day is counted unless it is midnight. Default: the end of today',
  ),
  interval: z.enum(['day', 'week', 'month']).default('day').describe('The interval of `series`. Weeks begin on Monday'),
})

const Total = z.object({
  verdict: Verdict,
  kind: RecordKind,
  currency: Currency.nullable().describe('Null if no money moves'),
  mode: ActionMode.describe('Whether the actions moved real money; null if the provider does not report it'),
  count: z.int(),
  not_carried_out: z
    .int()
    .describe(
      'The part of `count` that moved no money: the provider shows it as failed, canceled, rejected or reversed',
    ),
  amount: z.int().describe('The sum in minor units, without the actions of `not_carried_out`'),
})

const Duration = z.object({
  count: z.int(),
  median_ms: z.int().nullable().describe('Within 5 % of the exact median; null if there is none'),
})

/** The answer of GET /v1/stats. */
export const Stats = z.object({
  from: Timestamp,
  to: Timestamp.describe('Exclusive'),
  interval: z.enum(['day', 'week', 'month']),
  totals: z.array(Total),
  series: z.array(Total.extend({ at: Timestamp.describe('The beginning of the interval (UTC)') })),
  times: z.object({
    verdict: Duration.describe('From the first record of an action to its first verdict'),
    acknowledgement: Duration.describe('From the opening of an incident about an action to its acknowledgement'),
    resolution: Duration.describe('From the opening of an incident about an action to its end'),
  }),
  recount_pending: z.boolean().describe('True if a day of the period changed and is counted again within seconds'),
})
export type Stats = z.infer<typeof Stats>

/** The query of GET /v1/statements. */
export const StatementQuery = z.object({
  connection_id: IdFilter.optional().describe('The statement of one connection. Give either this or project_id'),
  project_id: IdFilter.optional().describe('In place of connection_id: the statement of all connections of a project'),
  month: z
    .string()
    .regex(/^\d{4}-(?:0[1-9]|1[0-2])$/, 'Give a month as 2026-11')
    .optional()
    .describe('The month in UTC. Give either this, or from and to'),
  from: z.iso.date().optional().describe('The first day (UTC) of another period, for example a quarter'),
  to: z.iso.date().optional().describe('The day (UTC) after its last day; 400 days later at most'),
  format: z.enum(['json', 'csv']).default('json'),
  by: z.enum(['category', 'actor']).default('category').describe('The lines of CSV. JSON has both'),
})

/** What one actor made: actions of any category. */
const StatementActor = StatementLine.omit({ category: true }).extend({
  actor_id: z.string(),
  actor_name: z.string().optional().describe('The name that people gave to the actor; absent without one'),
  amount: z.int().describe('The sum in minor units of the actions that moved money'),
})

/** The answer of GET /v1/statements. */
export const Statement = z.object({
  project_id: z.string(),
  connection_id: z.string().nullable().describe('Null for a statement of all connections of the project'),
  month: z.string().describe('Of another period its days: `2026-07-01/2026-10-01`, without the last one'),
  from: Timestamp,
  to: Timestamp.describe('Exclusive. The period begins and ends at midnight UTC'),
  lines: z.array(StatementLine),
  actors: z
    .array(StatementActor)
    .describe(
      'Who made them, as far as the providers name somebody: the 1,000 lines with the most actions. Of each day and connection, the 1,000 actors with the most actions are counted',
    ),
  actors_complete: z.boolean().describe('False if `actors` has not all lines, because there are more than 1,000'),
  recount_pending: z.boolean().describe('True if a day of the month changed and is counted again within seconds'),
})
export type Statement = z.infer<typeof Statement>
