import { z } from 'zod'
import { ProviderKind, RecordKind } from '../providers.ts'
import { ActionLinks, ActionMode, Customer, OriginChannel } from './action-details.ts'
import { Currency, Timestamp } from './operation.ts'
import { ActorKind } from './provider-actor.ts'

/** How many actions of a storm share a fact. A fact is reported if at least half of the actions share it. */
const count = z.int().min(1)
const SharedText = z.object({ value: z.string(), count }).nullable()

/** The facts that the actions of a storm have in common; null if most actions differ, or if the provider does not report the fact. */
export const StormCommonFacts = z.object({
  channel: z.object({ value: OriginChannel, count }).nullable(),
  key_name: SharedText,
  /** `value` is the `actor_id`; `name` is absent if people gave it none. Absent in older messages. */
  actor: z.object({ value: z.string(), kind: ActorKind, name: z.string().optional(), count }).nullable().optional(),
  user: SharedText,
  /** Name and e-mail address are personal data. */
  customer: z.object({ value: Customer, count }).nullable(),
  /** The payment or subscription id at the provider. */
  subject: SharedText,
  amount: z.object({ value: z.int(), currency: Currency, count }).nullable(),
  refund_reason: SharedText,
})
export type StormCommonFacts = z.infer<typeof StormCommonFacts>

/** The facts of actions that share none. */
export const NOTHING_IN_COMMON: StormCommonFacts = {
  channel: null,
  key_name: null,
  user: null,
  customer: null,
  subject: null,
  amount: null,
  refund_reason: null,
}

/** The facts with the name that people gave to the actor. @param names by the id of the actor */
export function withActorName(common: StormCommonFacts, names: ReadonlyMap<string, string>): StormCommonFacts {
  const { actor } = common
  const name = names.get(actor?.value ?? '')
  return actor == null || name === undefined ? common : { ...common, actor: { ...actor, name } }
}

/** A burst that people were alerted to before the second looks (incident UNEXPLAINED_BURST), and whose actions continue in a storm. */
export const StormBurst = z.object({
  incident_id: z.string(),
  /** When people were alerted, and how many actions the alert counted. */
  opened_at: Timestamp,
  count,
})
export type StormBurst = z.infer<typeof StormBurst>

/**
 * The scope of a storm, stored as `connection_id` of storms and of their members, so that the unique index allows one open storm for
 * each: a connection `con_1`, one of its connected accounts `con_1/acct_1`, or many of its accounts `con_1/`.
 */
export function stormScopeOf(connectionId: string, account: string | undefined): string {
  return account === undefined ? connectionId : `${connectionId}/${account}`
}

/** The connection of a scope, and its connected account; null for a connection, empty for many accounts. */
export function partsOfStormScope(scope: string): { readonly connectionId: string; readonly account: string | null } {
  const slash = scope.indexOf('/')
  if (slash < 0) return { connectionId: scope, account: null }
  return { connectionId: scope.slice(0, slash), account: scope.slice(slash + 1) }
}

/** Bounds of every scope of a connection; ids of connections have no character between these. */
export function stormScopesOf(connectionId: string): { readonly min: string; readonly max: string } {
  return { min: connectionId, max: `${connectionId}/\uffff` }
}

/** Many unexplained actions of one connection, or of one of its connected accounts, within a short time, as one report shows them. */
export const Storm = z.object({
  storm_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  /** The connected account that has all actions. Absent for the connection's own account, and if the actions are of many accounts. */
  account: z.string().optional(),
  /** Number of connected accounts, up to 10,000, if the actions are of many. */
  accounts: z.int().min(1).optional(),
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
  /** Number of different actions. An action with several incidents is counted once. */
  count,
  /** Actions that an operation or an expected change explained since. */
  explained: z.int().min(0),
  /** Actions whose incidents were all resolved, explained or not. */
  resolved: z.int().min(0),
  /** Actions with an open incident that nobody acknowledged. Absent in older messages. */
  unacknowledged: z.int().min(0).optional(),
  /**
   * Why there is a report. `acknowledged`: since the last report people acknowledged every incident that is still open. `resolved`: the last
   * open incident of an ended storm was resolved. Absent in older messages.
   */
  cause: z.enum(['new_actions', 'ended', 'acknowledged', 'resolved']).optional(),
  /** Actions per minute between the first and the last, over at least one minute. */
  per_minute: z.number().min(0),
  kinds: z.array(z.object({ kind: RecordKind, count })).min(1),
  /**
   * Minor units, by currency and mode: test money last, then the currency of most actions first. `count` is the number of actions in the
   * sum. Actions without an amount, and actions that moved no money, are not included.
   */
  money: z.array(
    z.object({
      currency: Currency,
      amount: z.int(),
      count,
      largest: z.int(),
      /** Absent in older messages, which added up all modes. */
      mode: ActionMode.optional(),
    }),
  ),
  /** Actions with an amount that moved no money: they failed, or were canceled, rejected or reversed. Absent in older messages. */
  without_money: z.int().min(0).optional(),
  /** The mode of all actions; null if they differ, or if the provider does not report it. */
  mode: ActionMode,
  /** Number of different customers that the provider reports, up to 10,000. */
  customers: z.int().min(0),
  /** `provider` is the page of the largest action. */
  links: ActionLinks,
  common: StormCommonFacts,
  /** The bursts that continue in this storm, the first one first. Absent if there is none, and in older messages. */
  bursts: z.array(StormBurst).min(1).optional(),
})
export type Storm = z.infer<typeof Storm>
