import { AppError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { Metrics } from '../ops/metrics.ts'
import { type Clock, sleep, systemClock } from './clock.ts'
import { applyOffset, type CorrectedTime, initialTime, remainingExcessMs, timeAt } from './corrected-time.ts'
import { type ClockSource, type ClockVerdict, type Deviation, judgeOffsets } from './judge-offsets.ts'
import { type ClockReading, estimateAt, type OffsetEstimate, refineEstimate } from './offset-estimate.ts'
import { waitUntilSettled, withDeadline } from './with-deadline.ts'

/** A clock that a process compares with its own. */
export interface TimeSource {
  /** Reads the clock, in milliseconds since the epoch, rounded down. Resolves or rejects within a minute. */
  read(): Promise<number>
  stop?(): Promise<void>
}

/** The two clocks of this host. */
interface OwnClocks {
  /** Milliseconds since the epoch. An operator or NTP may change it suddenly. */
  wall(): number
  /** Milliseconds since an arbitrary moment. Never changes suddenly. */
  monotonic(): number
}

export interface MeasuredClockOptions {
  readonly sources: Readonly<Record<ClockSource, TimeSource>>
  readonly logger: Logger
  readonly metrics: Metrics
  /** Pause between two readings of a source, in milliseconds; 10000 by default. */
  readonly everyMs?: number
  /** The host's clocks by default. */
  readonly own?: OwnClocks
}

/**
 * The time base of a process: MongoDB's time (Kafka's if MongoDB was never read), advanced by this host's monotonic
 * clock. It never goes back, and changes of the host's wall clock do not affect it.
 */
export interface MeasuredClock extends Clock {
  /** Starts reading the sources. Before the first reading, `now` returns the host's own time. */
  start(): void
  /** True after the first reading. From then on `now` returns measured time, even while no source answers. */
  isMeasured(): boolean
  /**
   * Resolves when the clock is measured and each source was tried once.
   * @throws AppError `unavailable` after `waitMs`
   */
  untilMeasured(waitMs?: number): Promise<void>
  /** The reason why this process is not ready, with the remedy; undefined if it is ready. */
  unready(): string | undefined
  /** How far this host's clock is ahead of the time base, in milliseconds; undefined before the first reading. */
  aheadMs(): number | undefined
  /** How long this source has been unavailable, in milliseconds; 0 if its last reading was answered. */
  unavailableMs(source: ClockSource): number
  /** Stops reading, and stops the sources. Call it before MongoDB is closed. */
  stop(): Promise<void>
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
/** Pause after a failed reading, in milliseconds: it decides how soon an outage and its end are noticed. */
const FAILED_EVERY_MS = 5_000
const READINGS_AT_ONCE = 3
/** How long the start waits for the second source after the first one was read, in milliseconds. */
const OTHER_SOURCE_MS = 2_000
const REPEAT_WARNING_MS = 600_000
const WAIT_MS = 60_000

const SOURCES = ['database', 'broker'] as const satisfies readonly ClockSource[]
type Estimates = Readonly<Partial<Record<ClockSource, OffsetEstimate>>>
const MACHINE: OwnClocks = { wall: () => Date.now(), monotonic: () => performance.now() }

export function createMeasuredClock(options: MeasuredClockOptions): MeasuredClock {
  return new TimeBase(options)
}

class TimeBase implements MeasuredClock {
  readonly #sources: Readonly<Record<ClockSource, TimeSource>>
  readonly #logger: Logger
  readonly #everyMs: number
  readonly #own: OwnClocks
  readonly #record: ReturnType<typeof createClockMetrics>
  readonly #stopping = new AbortController()
  readonly #measured = Promise.withResolvers<void>()
  /** Resolved after the first reading of the source, successful or failed. */
  readonly #tried: Readonly<Record<ClockSource, PromiseWithResolvers<void>>>
  readonly #failing = new Map<ClockSource, unknown>()
  /** Since when each source has not answered, on the monotonic clock. */
  readonly #unavailableSince = new Map<ClockSource, number>()
  #estimates: Estimates = {}
  #base: ClockSource | undefined
  #time: CorrectedTime
  #logged = { verdict: 'in_step', atMs: 0 }

  constructor({ sources, logger, metrics, everyMs = EVERY_MS, own = MACHINE }: MeasuredClockOptions) {
    this.#sources = sources
    this.#logger = logger
    this.#everyMs = everyMs
    this.#own = own
    this.#record = createClockMetrics(metrics)
    this.#tried = { database: Promise.withResolvers(), broker: Promise.withResolvers() }
    this.#time = initialTime(own.wall() - own.monotonic())
  }

  readonly now = () => timeAt(this.#time, this.#own.monotonic())
  readonly schedule = systemClock.schedule

  start(): void {
    for (const name of SOURCES) void this.#readRepeatedly(name)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(SOURCES.map(name => this.#sources[name].stop?.()))
  }

  isMeasured(): boolean {
    return this.#base !== undefined
  }

  async untilMeasured(waitMs = WAIT_MS): Promise<void> {
    await withDeadline(this.#measured.promise, waitMs, () => {
      const message = 'The clock could not be compared with MongoDB or Kafka: check MONGO_URL and KAFKA_BROKERS'
      const cause = this.#failing.get('database') ?? this.#failing.get('broker')
      return new AppError('unavailable', message, { cause, retryable: true })
    })
    await waitUntilSettled(Promise.all(SOURCES.map(name => this.#tried[name].promise)), OTHER_SOURCE_MS)
  }

  unready(): string | undefined {
    const verdict = this.#judge()
    return verdict.kind === 'far_apart' || verdict.kind === 'unmeasured' ? verdict.detail : undefined
  }

  aheadMs(): number | undefined {
    return this.#base && this.#deviationOf(this.#base)?.aheadMs
  }

  unavailableMs(source: ClockSource): number {
    const since = this.#unavailableSince.get(source)
    return since === undefined ? 0 : this.#own.monotonic() - since
  }

  async #readRepeatedly(name: ClockSource): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#readUntilPrecise(name)
      this.#tried[name].resolve()
      if (signal.aborted) return
      this.#report()
      await sleep(systemClock, this.#pauseAfter(name), signal)
    }
  }

  #pauseAfter(name: ClockSource): number {
    if (!this.isMeasured()) return RETRY_MS
    return this.#failing.has(name) ? Math.min(FAILED_EVERY_MS, this.#everyMs) : this.#everyMs
  }

  async #readUntilPrecise(name: ClockSource): Promise<void> {
    for (let count = 0; count < READINGS_AT_ONCE; count += 1) {
      const sentAtMs = this.#own.monotonic()
      try {
        const remoteMs = await this.#sources[name].read()
        this.#applyReading(name, { sentAtMs, receivedAtMs: this.#own.monotonic(), remoteMs })
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.#reportFailure(name, error, sentAtMs)
        return
      }
      this.#unavailableSince.delete(name)
      if (this.#failing.delete(name)) this.#logger.info({ source: name }, 'clock.reading_succeeded')
      if ((this.#estimates[name]?.errorMs ?? 0) <= PRECISE_MS) return
    }
  }

  #applyReading(name: ClockSource, reading: ClockReading): void {
    const estimates = { ...this.#estimates, [name]: refineEstimate(this.#estimates[name], reading) }
    const atMs = this.#own.monotonic()
    const { base, offsetMs } = chooseBase(estimates)
    // Before the first reading no decision used the time, so it may still go back.
    this.#time = this.isMeasured() ? applyOffset(this.#time, offsetMs, atMs) : initialTime(offsetMs)
    this.#estimates = estimates
    this.#base = base
    this.#measured.resolve()
  }

  #reportFailure(name: ClockSource, error: unknown, sentAtMs: number): void {
    this.#record.failed(name)
    // A source that answers with an error is available: its topic, for example, has the wrong settings.
    if (!(error instanceof AppError) || error.code !== 'unavailable') this.#unavailableSince.delete(name)
    else if (!this.#unavailableSince.has(name)) this.#unavailableSince.set(name, sentAtMs)
    if (!this.#failing.has(name)) this.#logger.warn({ source: name, error }, 'clock.reading_failed')
    this.#failing.set(name, error)
  }

  #deviationOf(name: ClockSource): Deviation | undefined {
    const estimate = this.#estimates[name]
    if (estimate === undefined) return undefined
    const { offsetMs, errorMs, atMs } = estimateAt(estimate, this.#own.monotonic())
    return { aheadMs: this.#own.wall() - (atMs + offsetMs), errorMs }
  }

  #judge(): ClockVerdict {
    const excessMs = remainingExcessMs(this.#time, this.#own.monotonic())
    const [database, broker] = [this.#deviationOf('database'), this.#deviationOf('broker')]
    return judgeOffsets({ base: this.#base, database, broker, excessMs })
  }

  #report(): void {
    const offsets: Record<string, number> = {}
    for (const name of SOURCES) {
      const deviation = this.#deviationOf(name)
      if (deviation === undefined) continue
      this.#record.offset(name, deviation)
      offsets[`${name}_ahead_ms`] = Math.round(deviation.aheadMs)
    }
    this.#log(this.#judge(), offsets)
  }

  #log(verdict: ClockVerdict, offsets: Record<string, number>): void {
    if (verdict.kind === 'unmeasured') return
    const atMs = this.#own.monotonic()
    const name = verdict.kind === 'in_step' ? verdict.kind : `${verdict.kind} ${verdict.reason}`
    const isDue = verdict.kind !== 'in_step' && atMs - this.#logged.atMs >= REPEAT_WARNING_MS
    if (name === this.#logged.verdict && !isDue) return
    this.#logged = { verdict: name, atMs }
    if (verdict.kind === 'in_step') this.#logger.info(offsets, 'clock.offset_recovered')
    else
      this.#logger[verdict.kind === 'far_apart' ? 'error' : 'warn']({ ...verdict, ...offsets }, 'clock.offset_exceeded')
  }
}

/**
 * Chooses the source of the time. MongoDB is preferred because due times are stored there, even while it is down:
 * Kafka's clock may be wrong by minutes, an old reading is wrong by seconds a day.
 */
function chooseBase({ database, broker }: Estimates): { base: ClockSource; offsetMs: number } {
  if (database !== undefined) return { base: 'database', offsetMs: database.offsetMs }
  if (broker !== undefined) return { base: 'broker', offsetMs: broker.offsetMs }
  throw new Error('No estimate to choose from')
}

function createClockMetrics(metrics: Metrics) {
  const ahead = metrics.gauge(
    'clock_offset_seconds',
    "How far this host's clock is ahead of the source's; negative when it is behind",
    ['source'],
  )
  const error = metrics.gauge(
    'clock_offset_error_seconds',
    'By how much clock_offset_seconds may be wrong in either direction',
    ['source'],
  )
  const failures = metrics.counter(
    'clock_reading_failures_total',
    'Readings of the clock of MongoDB or Kafka that failed',
    ['source'],
  )
  return {
    offset(source: ClockSource, { aheadMs, errorMs }: Deviation) {
      ahead.set({ source }, aheadMs / 1000)
      error.set({ source }, errorMs / 1000)
    },
    failed: (source: ClockSource) => failures.inc({ source }),
  }
}
