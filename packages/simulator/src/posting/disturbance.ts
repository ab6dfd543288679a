import type { Chance } from '../chance.ts'

/** How far the way from the provider to us differs from a perfect one. Rates are from 0 (never) to 1 (always). */
export interface Disturbance {
  /** Milliseconds before the first post: from `minMs` up to `maxMs`. */
  readonly delay?: { readonly minMs: number; readonly maxMs: number }
  /** How often each event is posted in any case; 1 when left out. */
  readonly copies?: number
  /** Share of events that are posted once more than `copies`. */
  readonly duplicateRate?: number
  /** Share of events that are held back by `reorderMs`, so that those after them overtake. */
  readonly reorderRate?: number
  /** Milliseconds; 500 when left out. */
  readonly reorderMs?: number
  /** Share of events that are never posted at all, while the provider believes they were. */
  readonly dropRate?: number
  /**
   * Share of events whose body says wrong things about the right ids. Of the subscription biller alone: the other two
   * sign what they say.
   */
  readonly lieRate?: number
}

/** What becomes of one event: lost, or posted after each of these waits (milliseconds from now), perhaps with lies. */
export type PostPlan = { kind: 'dropped' } | { kind: 'posted'; delaysMs: readonly number[]; lies: boolean }

/** Decides what becomes of one event. The same chance gives the same plan. */
export function planPosts(disturbance: Disturbance, chance: Chance): PostPlan {
  if (chance.next() < (disturbance.dropRate ?? 0)) return { kind: 'dropped' }
  const copies = (disturbance.copies ?? 1) + (chance.next() < (disturbance.duplicateRate ?? 0) ? 1 : 0)
  const heldMs = chance.next() < (disturbance.reorderRate ?? 0) ? (disturbance.reorderMs ?? 500) : 0
  const { minMs, maxMs } = disturbance.delay ?? { minMs: 0, maxMs: 0 }
  const delaysMs = Array.from({ length: copies }, () => heldMs + minMs + chance.next() * (maxMs - minMs))
  return { kind: 'posted', delaysMs, lies: chance.next() < (disturbance.lieRate ?? 0) }
}
