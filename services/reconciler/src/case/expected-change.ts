import type { ActionKind } from '@backstop/contracts'

/** A change that a person announced, because no operation will report it. Null matches any value. */
export interface ExpectedChange {
  readonly id: string
  readonly projectId: string
  readonly connectionId: string | null
  readonly kind: ActionKind
  readonly subject: string | null
  /** Minor units. */
  readonly amount: number | null
  readonly currency: string | null
  /** When it was created, in milliseconds since the epoch. */
  readonly createdAt: number
  /** It covers what the provider makes from then on; null where nobody said from when (`covers`). */
  readonly startsAt: number | null
  /** It covers what the provider makes before then. */
  readonly expiresAt: number
  /** How many changes it covers. */
  readonly maxChanges: number
  /** How much money of `currency` it covers in total; null for any. */
  readonly maxAmount: number | null
  /**
   * What the changes of other cases had taken of it when it was read last. The claim decides (expected-change-uses.ts): this
   * only spares a claim that would be refused.
   */
  readonly usedElsewhere: UsedElsewhere
}

/** What is taken of an expected change. */
export interface Used {
  readonly changes: number
  readonly amount: number
}

/** What the changes of other cases have taken. */
export interface UsedElsewhere extends Used {
  /** Some of the actions that it covers there, in the order of their ids; absent in what was stored before this was kept. */
  readonly by?: readonly string[]
  /** It was deleted, so all of it counts as taken. */
  readonly isDeleted?: true
}
