/** Computes how fast a backlog was worked off, from the times of its events. */
import type { ReceivedDelivery } from '@backstop/simulator'
import { isOpened, refOf } from '../../test/setup/customer.ts'
import type { SentRefund } from '../../test/setup/installation/load.ts'
import { ALERT, readTimes, VERDICT } from '../end-to-end/readings.ts'
import { isInSample, type StoredVerdict } from '../end-to-end/verdicts.ts'
import type { Unit } from '../frame/benchmark.ts'

/** The delay of the second look, which is no part of catching up. */
export const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** New events are measured for at least this long, because a short backlog leaves too few for a percentile. */
const MEASURED_AT_LEAST_MS = 10_000

const BEGUN = 'first of the backlog'
export const JUDGED = 'backlog judged'
/** The minute before a second look is not counted. */
export const ALERTED = 'backlog alerted'
const SPEED = 'catching up'
const HOUR = 'for an hour of outage'
const SIZES = { events: 'events of the backlog', alerts: 'alerts of the backlog' } as const
/** The delays of new events: readings of end-to-end. */
const DELAYS = [VERDICT, ALERT, 'decision to alert'].flatMap(delay => [`${delay}, p50`, `${delay}, p99`])

/** @param judges true if the backlog waited for its verdicts, false if it waited for its alerts alone */
export function unitsOf(judges: boolean): Readonly<Record<string, Unit>> {
  return {
    [SIZES.events]: 'events',
    [SIZES.alerts]: 'alerts',
    [BEGUN]: 's',
    ...(judges ? { [JUDGED]: 's' } : {}),
    [ALERTED]: 's',
    [SPEED]: '/s',
    [HOUR]: 'min',
    ...Object.fromEntries(DELAYS.map(delay => [delay, 'ms' as const])),
  }
}

export interface CaughtUp {
  readonly outageMs: number
  /** When the part started again, in milliseconds since the epoch. */
  readonly endedAtMs: number
  readonly judges: boolean
  readonly backlog: readonly SentRefund[]
  /** Events that were not in the backlog. */
  readonly fresh: readonly SentRefund[]
  /** The stored verdicts of the sample, by the provider's id of the refund. */
  readonly explained: ReadonlyMap<string, StoredVerdict>
  readonly deliveries: readonly ReceivedDelivery[]
}

/**
 * The speed counts events until the last one is judged and alerted, or alerts if the backlog waited for those alone. For an hour of outage
 * the time before the first one is counted once, and the rest in proportion. New events are those whose verdict, or alert, is due while
 * the product catches up.
 * @throws Error if an event has no verdict or alert
 */
export function readCatchUp(run: CaughtUp): Readonly<Record<string, number>> {
  const { outageMs, endedAtMs, judges, backlog, fresh, explained, deliveries } = run
  const receivedAtMs = new Map(deliveries.filter(isOpened).map(one => [refOf(one), one.receivedAtMs]))
  const unexplained = backlog.filter(({ isExplained }) => !isExplained)
  const alerted = spanOf(
    unexplained.map(({ id }) => receivedAtMs.get(`re_${id}`)),
    judges ? endedAtMs + MINUTE_MS : endedAtMs,
  )
  const seenAtMs = backlog
    .filter(one => one.isExplained && isInSample(one))
    .map(({ id }) => explained.get(`re_${id}`)?.seenAtMs)
  const judged = judges ? spanOf(seenAtMs, endedAtMs) : undefined
  const { firstMs } = judged ?? alerted
  const tookMs = Math.max(judged?.lastMs ?? 0, alerted.lastMs)
  const fromMs = judges ? endedAtMs : endedAtMs - MINUTE_MS
  const toMs = fromMs + Math.max(tookMs, MEASURED_AT_LEAST_MS)
  const measured = fresh.filter(({ sentAtMs }) => sentAtMs >= fromMs && sentAtMs < toMs)
  const times = readTimes(measured, explained, deliveries)
  return {
    [SIZES.events]: backlog.length,
    [SIZES.alerts]: unexplained.length,
    [BEGUN]: firstMs / 1_000,
    ...(judged === undefined ? {} : { [JUDGED]: judged.lastMs / 1_000 }),
    [ALERTED]: alerted.lastMs / 1_000,
    [SPEED]: ((judges ? backlog : unexplained).length / tookMs) * 1_000,
    [HOUR]: (firstMs + (tookMs - firstMs) * (HOUR_MS / outageMs)) / MINUTE_MS,
    ...Object.fromEntries(DELAYS.map(delay => [delay, times[delay] as number])),
  }
}

/** The earliest and the latest of the times, in milliseconds after `fromMs`; the earliest is at least 0. */
function spanOf(times: readonly (number | undefined)[], fromMs: number): { firstMs: number; lastMs: number } {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const time of times) {
    if (time === undefined) throw new Error('An event of the backlog has no verdict or alert')
    first = Math.min(first, time)
    last = Math.max(last, time)
  }
  return { firstMs: Math.max(0, first - fromMs), lastMs: last - fromMs }
}

/** @returns a function that is true once a growing collection has all ids; it asks for each id once */
export function createCoverage(ids: readonly string[], collection: { has(id: string): boolean }): () => boolean {
  let found = 0
  return () => {
    while (found < ids.length && collection.has(ids[found]!)) found += 1
    return found === ids.length
  }
}
