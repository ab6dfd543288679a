import type { ActionKind, LimitInterval, Period } from '@backstop/contracts'

/**
 * A change that a person announced, because no operation will report it. Null matches any value. One with an interval is in a case once
 * for each period in which the case has an action, so every limit is that of one period.
 */
export interface ExpectedChange {
  /** The id of its uses (`usesIdOf`). */
  readonly id: string
  readonly projectId: string
  /** Covers only the action of this incident, and only if the incident was resolved as our own change. Absent if it is not about an incident. */
  readonly incidentId?: string
  readonly connectionId: string | null
  readonly kind: ActionKind
  readonly subject: string | null
  /** Minor units. */
  readonly amount: number | null
  readonly currency: string | null
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number
  /** Covers actions that the provider makes from this time on; null if the person gave no start (see `covers`). */
  readonly startsAt: number | null
  /** Covers actions that the provider makes before this time. */
  readonly expiresAt: number
  /** Covers only actions about this customer; absent for any. */
  readonly customerId?: string
  /** Covers only actions of this actor; absent for any. */
  readonly actorId?: string
  /** Covers only actions that the provider made in this period, to which the limits apply; absent if they apply in total. */
  readonly period?: Period & { readonly interval: LimitInterval }
  /** How many actions it covers. */
  readonly maxChanges: number
  /** How much money of `currency` it covers; null for any amount. */
  readonly maxAmount: number | null
  /**
   * How much of it other cases had used when it was loaded. This only avoids claims that would be refused: the claim
   * itself decides (expected-change-uses.ts).
   */
  readonly usedElsewhere: UsedElsewhere
}

/** How much of an expected change is used. */
export interface ExpectedChangeUsage {
  readonly changes: number
  readonly amount: number
}

/** How much of an expected change the actions of other cases use. */
export interface UsedElsewhere extends ExpectedChangeUsage {
  /** Ids of some of these actions, sorted; absent in documents that were stored before this field existed. */
  readonly by?: readonly string[]
  /** Set if the expected change was deleted. Then all of it counts as used. */
  readonly isDeleted?: true
}
