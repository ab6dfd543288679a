const DAY_MS = 86_400_000
const HALF_HOUR_MS = 1_800_000
const RARE_SHARE = 0.01
const KNOWN_AFTER = 100
/** A weekly batch is known after two weeks. */
export const HISTORY_DAYS = 28
/** With fewer days the busiest one counts, although it may be an exception. */
const MIN_DAYS = 7
/** A batch begins some minutes earlier or later each night. */
const NEAR_MS = 300_000

/** What is usual for a connection, by day (UTC, in days since the epoch). Each number is a maximum or a sum, so several processes may raise it in any order. */
export interface BurstHistory {
  readonly days: Readonly<Record<string, BurstDay>>
}

export interface BurstDay {
  /** The most actions that were late at the same time, by age in milliseconds (`LATE_AGES_MS`). Removed if a burst of the day was confirmed. */
  readonly late?: Readonly<Record<string, number>>
  /** The most actions of ten seconds that operations explained, by half hour of the day. */
  readonly busiest?: Readonly<Record<string, number>>
  /** Actions that operations explained: `all`, and those that had waited longer, by age in milliseconds. */
  readonly waits?: Readonly<Record<string, number>>
}

/** The day (UTC) of a time, as the history names it. */
export function dayNumberOf(atMs: number): number {
  return Math.floor(atMs / DAY_MS)
}

/** The half hour of the day, from 0 to 47. */
export function halfHourOf(atMs: number): number {
  return Math.floor(atMs / HALF_HOUR_MS) % 48
}

/** True if operations explain more than 1 % of the connection's actions only after this age. Late actions of this age say nothing about it. */
export function isUsualWait(history: BurstHistory, ageMs: number, now: number): boolean {
  return countWaits(history, String(ageMs), now) > countWaits(history, 'all', now) * RARE_SHARE
}

/**
 * Whether it is not known how late the connection's software reports: in its first day, before the first nightly batch, and while operations
 * explained fewer than 100 actions in 28 days. So an older connection whose history is empty, as after an update, is new as well.
 */
export function isNew(history: BurstHistory, createdAt: number, now: number): boolean {
  return now < createdAt + DAY_MS || countWaits(history, 'all', now) < KNOWN_AFTER
}

function countWaits({ days }: BurstHistory, longerThan: string, now: number): number {
  let count = 0
  for (let ago = 0; ago <= HISTORY_DAYS; ago += 1) count += days[dayNumberOf(now) - ago]?.waits?.[longerThan] ?? 0
  return count
}

/**
 * The usual number of late actions at an age: the second largest maximum of the last 28 days before today, so that neither one attack nor one
 * outage teaches it, and a weekly batch does. Of less than a week of history it is the largest.
 */
export function usualLate({ days }: BurstHistory, ageMs: number, createdAt: number, now: number): number {
  const before = Math.min(HISTORY_DAYS, dayNumberOf(now) - dayNumberOf(createdAt))
  let [largest, second] = [0, 0]
  for (let ago = 1; ago <= before; ago += 1) {
    const late = days[dayNumberOf(now) - ago]?.late?.[String(ageMs)] ?? 0
    if (late > largest) [largest, second] = [late, largest]
    else if (late > second) second = late
  }
  return before < MIN_DAYS ? largest : second
}

/** The most actions of ten seconds that operations explained at this time of the day, in the last 28 days with today. */
export function busiestBefore({ days }: BurstHistory, now: number): number {
  const halfHours = new Set([now - NEAR_MS, now, now + NEAR_MS].map(halfHourOf))
  let busiest = 0
  for (let ago = 0; ago <= HISTORY_DAYS; ago += 1) {
    const day = days[dayNumberOf(now) - ago]?.busiest
    for (const halfHour of halfHours) busiest = Math.max(busiest, day?.[String(halfHour)] ?? 0)
  }
  return busiest
}
