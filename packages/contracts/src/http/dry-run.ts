import { z } from 'zod'
import { Currency, Timestamp } from '../actions/operation.ts'
import { ActionKind, OutOfBand } from '../providers.ts'
import { TimeFilter } from './list.ts'

/** The query of GET /v1/projects/{id}/connections/{connection_id}/dry-run. */
export const SettingDryRunQuery = z.object({
  out_of_band: OutOfBand.describe('The setting to try'),
  from: TimeFilter.optional().describe('Default: 7 days before `to`'),
  to: TimeFilter.optional().describe('Excluded. Default: now'),
})

const AlertCount = z.object({
  count: z.int(),
  sums: z
    .array(z.object({ currency: Currency, count: z.int(), amount: z.int().describe('Minor units') }))
    .describe('Money per currency, without refunds that moved none in the end'),
})

/** An action that nothing explained at its second look. */
const TriedAction = z.object({
  action_id: z.string(),
  kind: ActionKind,
  subject: z.string(),
  provider_ref: z.string().nullable(),
  amount: z.int().nullable().describe('Minor units'),
  currency: Currency.nullable(),
  first_seen_at: Timestamp,
  looked_at: Timestamp.describe('When the second look found no explanation'),
  alerted: z.boolean().describe('True if it alerted, by the settings of then'),
  would_alert: z.boolean().describe('True if it would have alerted by the tried setting'),
})

/** The answer of GET /v1/projects/{id}/connections/{connection_id}/dry-run. */
export const SettingDryRun = z.object({
  project_id: z.string(),
  connection_id: z.string(),
  from: Timestamp,
  to: Timestamp,
  out_of_band: OutOfBand,
  alerted: AlertCount.describe('What alerted, by the settings of then'),
  would_alert: AlertCount.describe('What would have alerted by the tried setting'),
  unexplained: z.int().describe('Actions that nothing explained at a second look in the window'),
  is_complete: z.boolean().describe('False if only a part of the window was counted; give a shorter one'),
  actions: z.array(TriedAction).describe('The newest 500 of them'),
})
export type SettingDryRun = z.infer<typeof SettingDryRun>
