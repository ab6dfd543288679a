import { z } from 'zod'
import { LimitInterval } from '../values/period.ts'
import { Currency, Timestamp } from './operation.ts'

/** A cap on the money of operations in one currency, for one connection or a whole project. */
export const Budget = z.object({
  budget_id: z.string(),
  project_id: z.string(),
  /** Null if the budget covers every connection of the project. */
  connection_id: z.string().nullable(),
  name: z.string(),
  currency: Currency,
  /** Minor units of `currency` per period. */
  cap: z.int().min(1),
  interval: LimitInterval,
  /** Grows by one with each change. */
  version: z.int().min(1),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Budget = z.infer<typeof Budget>

/** The spent and reserved amounts of a budget in one period. */
export const BudgetUsage = z.object({
  starts_at: Timestamp,
  /** End of the period, exclusive. */
  ends_at: Timestamp,
  /** Minor units of operations that completed. */
  used: z.int().min(0),
  /** Minor units of operations in flight. */
  reserved: z.int().min(0),
  /** The amount that may still be requested: the cap minus `used` and `reserved`, at least 0. */
  left: z.int().min(0),
})
export type BudgetUsage = z.infer<typeof BudgetUsage>

/** An alert is sent when this share of the cap is reached, in percent. */
export const CAP_PERCENTS = [50, 80, 100] as const
