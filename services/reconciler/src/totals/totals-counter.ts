import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { DayToCount, TotalsStore } from './totals-store.ts'

const COUNT_EVERY_MS = 2_000
/**
 * Longer than a count and the sums may take, and the difference of two clocks. A day whose lease has ended is counted again, which does no
 * harm.
 */
const LEASE_MS = 300_000
/** The part of the time in which days are counted, however many actions they have. */
const MAX_SHARE = 0.1
/** How long a round counts before it stores the sums of the projects. Short, so that events hardly wait for a round. */
const ROUND_MS = 200

export interface TotalsCounterParts {
  readonly totals: TotalsStore
  readonly clock: Clock
  readonly logger: Logger
}

/** Counts every day again whose actions or incidents changed. */
export function createTotalsCounter(parts: TotalsCounterParts): Periodic {
  return createPeriodic({
    clock: parts.clock,
    pauseMs: COUNT_EVERY_MS,
    maxShare: MAX_SHARE,
    run: async isStopping => void (await countRound(parts, isStopping)),
    onFailure: error => parts.logger.warn({ error }, 'totals.not_counted'),
  })
}

/**
 * Counts some days, adds them to the sums of their projects, and removes their marks last: a day that was counted before a crash is
 * counted again.
 * @returns the number of counted days
 */
export async function countRound(
  { totals, clock }: Pick<TotalsCounterParts, 'totals' | 'clock'>,
  isStopping = () => false,
): Promise<number> {
  // A day that changes during its count is due again later than this time, so a round counts each day once.
  const dueAt = clock.now()
  const counted: DayToCount[] = []
  try {
    while (clock.now() < dueAt + ROUND_MS && !isStopping()) {
      const day = await totals.claimNext(dueAt, clock.now() + LEASE_MS)
      if (day === undefined) break
      await totals.save(day, await totals.count(day))
      counted.push(day)
    }
  } finally {
    // Also after a failure, so that one day that cannot be counted does not hold up the others.
    const sums = new Map(counted.map(day => [`${day.projectId}/${day.day}`, day]))
    for (const day of sums.values()) await totals.sumProject(day)
    for (const day of counted) await totals.finish(day, clock.now() + COUNT_EVERY_MS)
  }
  return counted.length
}
