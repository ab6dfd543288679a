import { z } from 'zod'
import { ActionLinks, ActionMode, Customer, OriginChannel } from './action-details.ts'
import { Currency, Timestamp } from './operation.ts'
import { ProviderKind, RecordKind } from './providers.ts'

/** How many actions of a storm share a fact. A fact is reported if at least half of the actions share it. */
const count = z.int().min(1)
const SharedText = z.object({ value: z.string(), count }).nullable()

/** The facts that the actions of a storm have in common; null if most actions differ, or if the provider does not report the fact. */
export const StormCommonFacts = z.object({
  channel: z.object({ value: OriginChannel, count }).nullable(),
  key_name: SharedText,
  user: SharedText,
  /** Name and e-mail address are personal data. */
  customer: z.object({ value: Customer, count }).nullable(),
  /** The payment or subscription id at the provider. */
  subject: SharedText,
  amount: z.object({ value: z.int(), currency: Currency, count }).nullable(),
  refund_reason: SharedText,
})
export type StormCommonFacts = z.infer<typeof StormCommonFacts>

/** Many unexplained actions of one connection within a short time, as one report shows them. */
export const Storm = z.object({
  storm_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  state: z.enum(['open', 'ended']),
  /** The number of the report, from 1. */
  report: z.int().min(1),
  reported_at: Timestamp,
  /** When the next report is due, unless the storm ends before; null after the end. */
  next_report_at: Timestamp.nullable(),
  /** When the incidents of the first and of the last action were opened. */
  first_at: Timestamp,
  last_at: Timestamp,
  count,
  /** Actions that an operation or an expected change explained since. */
  explained: z.int().min(0),
  /** Actions whose incident was resolved, explained or not. */
  resolved: z.int().min(0),
  /** Actions per minute between the first and the last, over at least one minute. */
  per_minute: z.number().min(0),
  kinds: z.array(z.object({ kind: RecordKind, count })).min(1),
  /** Minor units, the currency of most actions first. Actions without an amount are not included. */
  money: z.array(z.object({ currency: Currency, amount: z.int(), count, largest: z.int() })),
  /** The mode of all actions; null if they differ, or if the provider does not report it. */
  mode: ActionMode,
  /** Number of different customers that the provider reports, up to 10,000. */
  customers: z.int().min(0),
  /** `provider` is the page of the largest action. */
  links: ActionLinks,
  common: StormCommonFacts,
})
export type Storm = z.infer<typeof Storm>
