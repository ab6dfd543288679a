import type { Recovery } from '../../health/rules/channel-health.ts'

/** The deliveries to attempt at once because their channel works again. */
export interface ReleaseWindow {
  /** `all`: with the deliveries whose retry is planned for later. */
  readonly kind: 'all' | 'due'
  readonly createdFromMs: number
  readonly dueByMs: number
}

/** Minimum time between two releases of retries that are planned for later, in milliseconds. */
export const RELEASE_ALL_EVERY_MS = 60_000
/** Deliveries that were created this long before the first failure may wait for the channel, too, in milliseconds. */
const CREATED_BEFORE_MS = 300_000
/** Longer than any time between two attempts, in milliseconds. */
const LONGEST_RETRY_MS = 100 * 3_600_000

/**
 * Chooses the deliveries to attempt at once because their channel works again. Retries that are planned for later are
 * brought forward at most once a minute: a receiver that rejects only some messages must not get these again after
 * each message that it accepts.
 * @param lastReleaseOfAllMs when retries of this channel were last brought forward; undefined if never
 */
export function releaseWindow(
  { failingSinceMs }: Pick<Recovery, 'failingSinceMs'>,
  lastReleaseOfAllMs: number | undefined,
  nowMs: number,
): ReleaseWindow {
  const createdFromMs = failingSinceMs - CREATED_BEFORE_MS
  const isTooEarly = lastReleaseOfAllMs !== undefined && nowMs - lastReleaseOfAllMs < RELEASE_ALL_EVERY_MS
  return isTooEarly
    ? { kind: 'due', createdFromMs, dueByMs: nowMs }
    : { kind: 'all', createdFromMs, dueByMs: nowMs + LONGEST_RETRY_MS }
}
