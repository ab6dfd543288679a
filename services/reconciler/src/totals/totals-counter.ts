import { type Clock, createPeriodic, type Logger, type Periodic } from '@backstop/kit'
import type { DayToCount, TotalsStore } from './totals-store.ts'

const COUNT_EVERY_MS = 2_000
/** Longer than a count takes, so that two processes do not count the same day. A second count would do no harm. */
const LEASE_MS = 120_000
/** A day that changes all the time is counted for at most a tenth of the time, however many actions it has. */
const PAUSE_FACTOR = 10
/** How long and for how many days counts are collected before the sums of their projects are stored. */
const ROUND_MS = 2_000
const ROUND_DAYS = 100

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
    run: isStopping => countMarkedDays(parts, isStopping),
    onFailure: error => parts.logger.warn({ error }, 'totals.not_counted'),
  })
}

export async function countMarkedDays(
  parts: Pick<TotalsCounterParts, 'totals' | 'clock'>,
  isStopping = () => false,
): Promise<void> {
  // A day that changes during its count is due again later than this time, so the loop ends.
  const startedAt = parts.clock.now()
  while (!isStopping()) {
    if ((await countRound(parts, startedAt, isStopping)) === 0) return
  }
}

interface CountedInRound {
  readonly day: DayToCount
  readonly durationMs: number
}

/**
 * Counts some days, adds them to the sums of their projects, and removes their marks last: a day that was counted before a crash is
 * counted again.
 * @returns the number of counted days
 */
async function countRound(
  { totals, clock }: Pick<TotalsCounterParts, 'totals' | 'clock'>,
  dueAt: number,
  isStopping: () => boolean,
): Promise<number> {
  const roundEndsAt = clock.now() + ROUND_MS
  const counted: CountedInRound[] = []
  try {
    while (counted.length < ROUND_DAYS && clock.now() < roundEndsAt && !isStopping()) {
      const day = await totals.claimNext(dueAt, clock.now() + LEASE_MS)
      if (day === undefined) break
      const countedFrom = clock.now()
      await totals.save(day, await totals.count(day))
      counted.push({ day, durationMs: clock.now() - countedFrom })
    }
  } finally {
    // Also after a failure, so that one day that cannot be counted does not hold up the others.
    const sums = new Map(counted.map(({ day }) => [`${day.projectId}/${day.day}`, day]))
    for (const day of sums.values()) await totals.sumProject(day)
    for (const { day, durationMs } of counted) {
      await totals.finish(day, clock.now() + Math.max(COUNT_EVERY_MS, durationMs * PAUSE_FACTOR))
    }
  }
  return counted.length
}
