import type { Logger } from '../logger.ts'
import type { Metrics } from '../ops/metrics.ts'
import { type Clock, sleep, systemClock } from './clock.ts'
import { applyOffset, type CorrectedTime, initialTime, remainingExcessMs, timeAt } from './corrected-time.ts'
import { type ClockVerdict, type Deviation, judgeOffset } from './judge-offset.ts'
import { estimateAt, type OffsetEstimate, refineEstimate } from './offset-estimate.ts'

/** The two clocks of this host. */
interface OwnClocks {
  /** Milliseconds since the epoch. An operator or NTP may change it suddenly. */
  wall(): number
  /** Milliseconds since an arbitrary moment. Never changes suddenly. */
  monotonic(): number
}

export interface MeasuredClockOptions {
  /** Reads MongoDB's clock, in milliseconds since the epoch, rounded down. Resolves or rejects within a minute. */
  readonly readTime: () => Promise<number>
  readonly logger: Logger
  readonly metrics: Metrics
  /** Pause between two readings, in milliseconds; 10000 by default. */
  readonly everyMs?: number
  /** The host's clocks by default. */
  readonly own?: OwnClocks
}

const EVERY_MS = 10_000
/**
 * Pause between readings before the first success, in milliseconds. It is short because the start of the process waits.
 */
const RETRY_MS = 500
/**
 * A reading is repeated at once until its error is at most this, in milliseconds, because the first reading includes
 * connecting.
 */
const PRECISE_MS = 10
const READINGS_AT_ONCE = 3
const REPEAT_WARNING_MS = 600_000

const MACHINE: OwnClocks = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * The time base of a process: MongoDB's time, advanced by this host's monotonic clock. It never goes back, and changes of
 * the host's wall clock do not affect it.
 */
export class MeasuredClock implements Clock {
  readonly #readTime: () => Promise<number>
  readonly #logger: Logger
  readonly #everyMs: number
  readonly #own: OwnClocks
  readonly #record: ReturnType<typeof createClockMetrics>
  readonly #stopping = new AbortController()
  readonly #measured = Promise.withResolvers<void>()
  #isMeasured = false
  /** The error of the last reading, if it failed. */
  #failure: unknown
  #estimate: OffsetEstimate | undefined
  #time: CorrectedTime
  #logged = { verdict: 'in_step', atMs: 0 }

  constructor({ readTime, logger, metrics, everyMs = EVERY_MS, own = MACHINE }: MeasuredClockOptions) {
    this.#readTime = readTime
    this.#logger = logger
    this.#everyMs = everyMs
    this.#own = own
    this.#record = createClockMetrics(metrics)
    this.#time = initialTime(own.wall() - own.monotonic())
  }

  readonly now = () => timeAt(this.#time, this.#own.monotonic())
  readonly schedule = systemClock.schedule

  /** Starts reading. Before the first reading, `now` returns the host's own time. */
  start(): void {
    void this.#readRepeatedly()
  }

  /** Stops reading. Call it before MongoDB is closed. */
  stop(): void {
    this.#stopping.abort()
  }

  /** True once one reading is precise, or after three readings. Stays true while MongoDB is unavailable. */
  isMeasured(): boolean {
    return this.#isMeasured
  }

  /** Resolves when the clock is measured, even if MongoDB is unavailable for a long time. */
  untilMeasured(): Promise<void> {
    return this.#measured.promise
  }

  /** The reason why this process is not ready, with the remedy; undefined if it is ready. */
  unready(): string | undefined {
    const verdict = this.#judge()
    return verdict.kind === 'far_apart' || verdict.kind === 'unmeasured' ? verdict.detail : undefined
  }

  /** How far this host's clock is ahead of the time base, in milliseconds; undefined before the first reading. */
  aheadMs(): number | undefined {
    return this.#deviation()?.aheadMs
  }

  async #readRepeatedly(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#readUntilPrecise()
      if (signal.aborted) return
      if (this.#estimate !== undefined) {
        this.#isMeasured = true
        this.#measured.resolve()
      }
      this.#report()
      await sleep(systemClock, this.isMeasured() ? this.#everyMs : RETRY_MS, signal)
    }
  }

  async #readUntilPrecise(): Promise<void> {
    for (let count = 0; count < READINGS_AT_ONCE; count += 1) {
      const sentAtMs = this.#own.monotonic()
      try {
        this.#applyReading(sentAtMs, await this.#readTime())
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#reportFailure(error)
        return
      }
      if (this.#failure !== undefined) this.#logger.info('clock.reading_succeeded')
      this.#failure = undefined
      if ((this.#estimate?.errorMs ?? 0) <= PRECISE_MS) return
    }
  }

  #applyReading(sentAtMs: number, remoteMs: number): void {
    const atMs = this.#own.monotonic()
    const estimate = refineEstimate(this.#estimate, { sentAtMs, receivedAtMs: atMs, remoteMs })
    const { offsetMs } = estimate
    // The first reading includes connecting, so it may be wrong by a second. Until it is refined no decision uses the time, and it may go back.
    this.#time = this.#isMeasured ? applyOffset(this.#time, offsetMs, atMs) : initialTime(offsetMs)
    this.#estimate = estimate
  }

  #reportFailure(error: unknown): void {
    this.#record.failed()
    if (this.#failure === undefined) this.#logger.warn({ error }, 'clock.reading_failed')
    this.#failure = error
  }

  #deviation(): Deviation | undefined {
    if (this.#estimate === undefined) return undefined
    const { offsetMs, errorMs, atMs } = estimateAt(this.#estimate, this.#own.monotonic())
    return { aheadMs: this.#own.wall() - (atMs + offsetMs), errorMs }
  }

  #judge(): ClockVerdict {
    const excessMs = remainingExcessMs(this.#time, this.#own.monotonic())
    return judgeOffset({ deviation: this.#deviation(), excessMs })
  }

  #report(): void {
    const deviation = this.#deviation()
    const verdict = this.#judge()
    if (deviation === undefined || verdict.kind === 'unmeasured') return
    this.#record.offset(deviation)
    const atMs = this.#own.monotonic()
    const name = verdict.kind === 'in_step' ? verdict.kind : `${verdict.kind} ${verdict.reason}`
    const isDue = verdict.kind !== 'in_step' && atMs - this.#logged.atMs >= REPEAT_WARNING_MS
    if (name === this.#logged.verdict && !isDue) return
    this.#logged = { verdict: name, atMs }
    const facts = { ...verdict, ahead_ms: Math.round(deviation.aheadMs) }
    if (verdict.kind === 'in_step') this.#logger.info(facts, 'clock.offset_recovered')
    else this.#logger[verdict.kind === 'far_apart' ? 'error' : 'warn'](facts, 'clock.offset_exceeded')
  }
}

function createClockMetrics(metrics: Metrics) {
  const ahead = metrics.gauge(
    'clock_offset_seconds',
    "How far this host's clock is ahead of MongoDB's; negative when it is behind",
    [],
  )
  const error = metrics.gauge(
    'clock_offset_error_seconds',
    'By how much clock_offset_seconds may be wrong in either direction',
    [],
  )
  const failures = metrics.counter('clock_reading_failures_total', "Readings of MongoDB's clock that failed", [])
  // A gauge without labels has the value 0 from its creation, and that would be a false reading.
  ahead.remove()
  error.remove()
  return {
    offset({ aheadMs, errorMs }: Deviation) {
      ahead.set(aheadMs / 1000)
      error.set(errorMs / 1000)
    },
    failed: () => failures.inc(),
  }
}
