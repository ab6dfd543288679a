import type { Chance } from '../chance.ts'

/** Disturbances of the delivery from the provider to Backstop. Rates are from 0 (never) to 1 (always). */
export interface Disturbance {
  /** Milliseconds before the first post: from `minMs` up to `maxMs`. */
  readonly delay?: { readonly minMs: number; readonly maxMs: number }
  /** The number of copies of each event; 1 by default. */
  readonly copies?: number
  /** Share of events that are posted once more than `copies`. */
  readonly duplicateRate?: number
  /** Share of events that are delayed by `reorderMs`, so that later events overtake them. */
  readonly reorderRate?: number
  /** Milliseconds; 500 by default. */
  readonly reorderMs?: number
  /** Share of events that are never posted, although the provider counts them as posted. */
  readonly dropRate?: number
  /**
   * Share of events with correct ids and false values. Only for the subscription biller, because processor and reseller sign
   * their events.
   */
  readonly falseValuesRate?: number
}

/** The plan for one event: it is dropped, or each copy is posted after its delay in milliseconds, possibly with false values. */
export type PostPlan = { kind: 'dropped' } | { kind: 'posted'; delaysMs: readonly number[]; hasFalseValues: boolean }

/** Plans the posting of one event. The same chance gives the same plan. */
export function planPosts(disturbance: Disturbance, chance: Chance): PostPlan {
  if (chance.next() < (disturbance.dropRate ?? 0)) return { kind: 'dropped' }
  const copies = (disturbance.copies ?? 1) + (chance.next() < (disturbance.duplicateRate ?? 0) ? 1 : 0)
  const heldMs = chance.next() < (disturbance.reorderRate ?? 0) ? (disturbance.reorderMs ?? 500) : 0
  const { minMs, maxMs } = disturbance.delay ?? { minMs: 0, maxMs: 0 }
  const delaysMs = Array.from({ length: copies }, () => heldMs + minMs + chance.next() * (maxMs - minMs))
  return { kind: 'posted', delaysMs, hasFalseValues: chance.next() < (disturbance.falseValuesRate ?? 0) }
}
