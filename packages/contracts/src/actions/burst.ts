import { z } from 'zod'
import { ProviderKind, RecordKind } from '../providers.ts'
import { ActionMode } from './action-details.ts'
import { Currency, Timestamp } from './operation.ts'
import { StormCommonFacts, withActorName } from './storm.ts'

const count = z.int().min(1)

/**
 * Unusually many actions of one connection that nothing explains so far, as they were counted when the alarm was given. Their second looks
 * are not done yet.
 */
export const Burst = z.object({
  provider: ProviderKind,
  /** The connected account that has all actions, or the number of accounts if the actions are of many. Absent for the connection's own account. */
  account: z.string().optional(),
  accounts: z.int().min(1).optional(),
  /** Number of different actions. */
  count,
  /** When the first and the last of them were first seen. */
  first_at: Timestamp,
  last_at: Timestamp,
  /** Actions per minute between the first and the last, over at least ten seconds. */
  per_minute: z.number().min(0),
  kinds: z.array(z.object({ kind: RecordKind, count })).min(1),
  /** Minor units, by currency and mode. `count` is the number of actions in the sum. Actions without an amount are not included. */
  money: z.array(z.object({ currency: Currency, amount: z.int(), count, mode: ActionMode.optional() })),
  /** When the first and the last of their second looks are due. */
  looks_at: Timestamp,
  last_look_at: Timestamp,
  /** What most of them have in common. */
  common: StormCommonFacts.optional(),
  /** Why the alarm was given: the numbers that the rule compared (docs/storms.md). */
  why: z.object({
    /** One sentence for people to read. */
    rule: z.string(),
    /** How long this connection usually waits until an operation explains an action, in milliseconds. Only actions older than that count. */
    usual_wait_ms: z.int().min(0),
    /** The usual number of such late actions in the busiest minute of a day. */
    usual_late_per_minute: z.int().min(0),
    /** The number of late actions, and the smallest number that gives the alarm. */
    late: z.int().min(0),
    threshold: z.int().min(1),
  }),
  /**
   * How it ended. `confirmed`: the second looks found no explanation for most of them, so their incidents continue as the storm `storm_id`. `explained`: the
   * second looks or operations explained most of them. Absent while it is open.
   */
  outcome: z.enum(['confirmed', 'explained']).optional(),
})
export type Burst = z.infer<typeof Burst>

/** An incident whose burst, if it has one, has the name that people gave to the actor. @param names by the id of the actor */
export function withBurstNamed<I extends { readonly burst?: Burst | undefined }>(
  incident: I,
  names: ReadonlyMap<string, string>,
): I {
  const { burst } = incident
  if (burst?.common === undefined) return incident
  return { ...incident, burst: { ...burst, common: withActorName(burst.common, names) } }
}
