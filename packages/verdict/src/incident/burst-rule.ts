import type { LookedConnection } from '@backstop/contracts'
import { permissionToAlert } from '../explain/out-of-band.ts'
import { type BurstHistory, busiestBefore, isNew, isUsualWait, usualLate } from './burst-history.ts'

/**
 * The rule of the burst alarm: whether so many actions of a connection are unexplained so far that people should know before the second
 * looks. An action is late if it is older than an age of `LATE_AGES_MS` and still waits for its second look.
 *
 * | answer | a connection |
 * |---|---|
 * | `alarm_is_off` | has `burst_alarm: false` |
 * | `not_alerted` | alerts about no unexplained action: it has `out_of_band: ignore`, `auto` before its first operation, or was deleted |
 * | `few` | has fewer than ten actions that wait for their second look |
 * | `usual` | has fewer late actions than ten, or than three times the usual number, at each age that operations rarely exceed. While it is new, only the age of 45 s counts, unless it had no operation yet |
 * | `reports_may_be_late` | saw in no ten seconds of the last minute more actions than its own operations explained in the busiest ten seconds at this time of the day |
 * | `burst` | else: opens UNEXPLAINED_BURST |
 */
export const BURST_ANSWERS = ['alarm_is_off', 'not_alerted', 'few', 'usual', 'reports_may_be_late', 'burst'] as const

/**
 * The ages at which late actions are counted. Software that reports first has none at any age; software that reports after 30 seconds has
 * thousands at the younger ages, and none at 45 seconds.
 */
export const LATE_AGES_MS = [0, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 45_000] as const

/** The least number of late actions that gives the alarm. */
export const BURST_MIN = 10
/** How often the usual number is exceeded by a burst. */
const TIMES_USUAL = 3
/** How late the software of a new connection reports is not known, so only this age counts: it is before the second looks, and after most reports. */
const NEW_AGE_MS = 45_000
/** The operations of a connection explain actions in parts of this length, so that a busy minute does not hide a leaked key. */
export const PART_MS = 10_000
/** How long before now actions are compared. Older actions had their second look. */
export const BURST_WINDOW_MS = 60_000

/** What the rule knows about a connection. */
export interface WatchedConnection extends LookedConnection {
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly isAlarmOn: boolean
  readonly history: BurstHistory
}

/** Why the alarm was given, in numbers. */
export interface UnusualNumber {
  readonly ageMs: number
  readonly usual: number
  readonly threshold: number
  readonly late: number
}

export type BurstDecision =
  | { readonly answer: Exclude<(typeof BURST_ANSWERS)[number], 'burst'> }
  | { readonly answer: 'burst'; readonly why: UnusualNumber }

/**
 * @param pendingSince when each action that waits for its second look was first seen, in any order
 * @param seen when each action of the last minute was first seen, explained or not
 */
export function decideBurst(
  connection: WatchedConnection,
  pendingSince: readonly number[],
  seen: readonly number[],
  now: number,
): BurstDecision {
  if (!connection.isAlarmOn) return { answer: 'alarm_is_off' }
  if (permissionToAlert([connection]).kind === 'quiet') return { answer: 'not_alerted' }
  if (pendingSince.length < BURST_MIN) return { answer: 'few' }
  const why = findUnusual(connection, countLate(pendingSince, now), now)
  if (why === null) return { answer: 'usual' }
  if (busiestPart(seen, now) <= busiestBefore(connection.history, now)) return { answer: 'reports_may_be_late' }
  return { answer: 'burst', why }
}

/** The number of late actions at each age of `LATE_AGES_MS`. */
export function countLate(pendingSince: readonly number[], now: number): number[] {
  return LATE_AGES_MS.map(age => pendingSince.filter(at => at <= now - age).length)
}

/** The youngest age at which unusually many actions are late; null if there is none. */
export function findUnusual(
  { createdAt, has_executed, history }: Pick<WatchedConnection, 'createdAt' | 'has_executed' | 'history'>,
  late: readonly number[],
  now: number,
): UnusualNumber | null {
  const fromAge = has_executed && isNew(history, createdAt, now) ? NEW_AGE_MS : 0
  for (const [index, ageMs] of LATE_AGES_MS.entries()) {
    const count = late[index] ?? 0
    if (count < BURST_MIN) return null
    if (ageMs < fromAge || isUsualWait(history, ageMs, now)) continue
    const usual = usualLate(history, ageMs, createdAt, now)
    const threshold = Math.max(BURST_MIN, TIMES_USUAL * usual)
    if (count >= threshold) return { ageMs, usual, threshold, late: count }
  }
  return null
}

/** The most actions that were first seen in one part of the last minute. */
function busiestPart(seen: readonly number[], now: number): number {
  const parts = new Map<number, number>()
  for (const at of seen) {
    if (at <= now - BURST_WINDOW_MS) continue
    const part = Math.floor(at / PART_MS)
    parts.set(part, (parts.get(part) ?? 0) + 1)
  }
  return Math.max(0, ...parts.values())
}
