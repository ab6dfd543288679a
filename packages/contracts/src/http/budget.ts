import { z } from 'zod'
import { Budget, BudgetUsage } from '../actions/budget.ts'
import { LimitInterval } from '../values/period.ts'
import { CurrencyCode } from './list.ts'
import { Label } from './project.ts'

const Cap = z.int().min(1).max(Number.MAX_SAFE_INTEGER).describe('Minor units of the currency in each period')

/** The body of POST /v1/budgets. */
export const NewBudget = z.strictObject({
  project_id: z.string(),
  connection_id: z
    .string()
    .optional()
    .describe('Counts only operations of this connection; if omitted, of the whole project'),
  name: Label,
  currency: CurrencyCode.describe('ISO 4217; operations in other currencies do not count'),
  cap: Cap,
  interval: LimitInterval.describe('In UTC: a day from midnight, a week from Monday, a month from its first day'),
})
export type NewBudget = z.infer<typeof NewBudget>

/** The body of PATCH /v1/budgets/{id}. The connection, currency and interval of a budget cannot change; create another budget instead. */
export const BudgetPatch = z
  .strictObject({ name: Label.optional(), cap: Cap.optional() })
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')
export type BudgetPatch = z.infer<typeof BudgetPatch>

/** A budget with its usage in the present period. */
export const ShownBudget = Budget.extend({
  current: BudgetUsage.extend({
    overspent: z.int().min(0).describe('The amount by which `used` and `reserved` exceed the cap; 0 within the cap'),
  }),
})
export type ShownBudget = z.infer<typeof ShownBudget>
