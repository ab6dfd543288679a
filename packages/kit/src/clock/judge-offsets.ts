/** The clocks that a process compares with its own. The values are metric labels. */
export type ClockSource = 'database' | 'broker'

/**
 * How far this host's clock is ahead of another clock, in milliseconds, with a maximum error of `errorMs`. Negative if
 * it is behind.
 */
export interface Deviation {
  readonly aheadMs: number
  readonly errorMs: number
}

export interface ClockFacts {
  readonly database: Deviation | undefined
  readonly broker: Deviation | undefined
  /** The source of the corrected time; undefined if no source was ever read. */
  readonly base: ClockSource | undefined
  /** How far the corrected time is still ahead of its source, because it never goes back, in milliseconds. */
  readonly excessMs: number
}

export type ClockVerdict =
  | { readonly kind: 'in_step' }
  | { readonly kind: 'unmeasured'; readonly reason: 'no_reading_yet'; readonly detail: string }
  /** `apart` causes a warning; `far_apart` makes the process not ready. */
  | { readonly kind: 'apart' | 'far_apart'; readonly reason: DeviationReason; readonly detail: string }

type DeviationReason = 'own_clock' | 'database_clock' | 'broker_clock' | 'sources_disagree' | 'base_stepped_back'

const WARN_BEYOND_MS = 2_000
const NOT_READY_BEYOND_MS = 30_000

const NAMES: Readonly<Record<ClockSource, string>> = { database: 'MongoDB', broker: 'Kafka' }

/**
 * Judges the offsets. Only the part of a deviation beyond its error counts, so that a slow answer does not look like a
 * wrong clock.
 */
export function judgeOffsets(facts: ClockFacts): ClockVerdict {
  const { base, database, broker, excessMs } = facts
  const own = base === undefined ? undefined : facts[base]
  if (base === undefined || own === undefined) {
    const detail = 'The clock was not compared with MongoDB or Kafka yet: both are unavailable'
    return { kind: 'unmeasured', reason: 'no_reading_yet', detail }
  }
  if (excessMs > NOT_READY_BEYOND_MS) {
    const detail = `Time of ${NAMES[base]} stepped back, and this process is still ${seconds(excessMs)} ahead of it: restart the process`
    return { kind: 'far_apart', reason: 'base_stepped_back', detail }
  }
  const ownMs = certainDeviationMs(own)
  if (ownMs > WARN_BEYOND_MS) {
    const kind = ownMs > NOT_READY_BEYOND_MS ? 'far_apart' : 'apart'
    // The clocks of the host and of Kafka agree, so MongoDB's clock is wrong.
    if (base === 'database' && broker !== undefined && certainDeviationMs(broker) <= WARN_BEYOND_MS) {
      const detail = `The clock of MongoDB's primary differs by ${seconds(own.aheadMs)} from this host's and Kafka's: synchronise it by NTP`
      return { kind, reason: 'database_clock', detail }
    }
    const detail = `This host's clock is ${seconds(own.aheadMs)} ${direction(own)} ${NAMES[base]}'s: synchronise it by NTP. Time of ${NAMES[base]} is used meanwhile`
    return { kind, reason: 'own_clock', detail }
  }
  if (database === undefined || broker === undefined) return { kind: 'in_step' }
  if (certainDeviationMs(broker) > WARN_BEYOND_MS) {
    const detail = `Kafka's clock differs by ${seconds(broker.aheadMs)} from this host's and MongoDB's: synchronise the broker's by NTP`
    return { kind: 'apart', reason: 'broker_clock', detail }
  }
  const between = { aheadMs: broker.aheadMs - database.aheadMs, errorMs: broker.errorMs + database.errorMs }
  if (certainDeviationMs(between) > WARN_BEYOND_MS) {
    const detail = `The clocks of MongoDB and Kafka differ by ${seconds(between.aheadMs)}: synchronise them by NTP`
    return { kind: 'apart', reason: 'sources_disagree', detail }
  }
  return { kind: 'in_step' }
}

function certainDeviationMs({ aheadMs, errorMs }: Deviation): number {
  return Math.max(0, Math.abs(aheadMs) - errorMs)
}

function direction({ aheadMs }: Deviation): string {
  return aheadMs > 0 ? 'ahead of' : 'behind'
}

function seconds(ms: number): string {
  return `${(Math.abs(ms) / 1000).toFixed(1)} s`
}
