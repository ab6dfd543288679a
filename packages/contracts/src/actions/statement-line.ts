import { z } from 'zod'
import { RecordKind } from '../providers.ts'
import { ActionMode } from './action-details.ts'
import { Currency } from './operation.ts'

/** Why an action is in a line of a statement. */
export const StatementCategory = z.enum([
  /** An operation of our software explains the action. */
  'made_by_our_software',
  /** A person announced the action as an expected change, or confirmed it afterwards as our own change. */
  'expected',
  'unexplained',
  /** The second look is not done yet. */
  'pending',
  /** Nothing explains the action, on a connection whose `out_of_band` is `ignore`: people are expected to work in the account. */
  'out_of_band_ignored',
  /** No alert was needed: e.g. made before the connection, or ended by the provider. */
  'other',
  /** The provider shows the action as failed, canceled, rejected or reversed, whatever its verdict is. */
  'not_carried_out',
])
export type StatementCategory = z.infer<typeof StatementCategory>

/** The actions of a statement that have these fields in common. */
export const StatementLine = z.object({
  category: StatementCategory,
  kind: RecordKind,
  currency: Currency.nullable(),
  mode: ActionMode.describe('Whether the actions moved real money; null if the provider does not report it'),
  count: z.int(),
  amount: z.int().describe('The sum in minor units'),
})
export type StatementLine = z.infer<typeof StatementLine>
