import { ApiProblem } from '../api-problem.ts'
import type { NewOperation } from '../generated/api.ts'
import { endAfterCrash, hasEnd, mergeReports, type Report, withoutTimes } from './report.ts'

/** Keeps reports across restarts. Its functions must not throw. */
export interface Spool {
  /** Reads the reports that earlier processes saved and did not remove. */
  load(): Promise<readonly Report[]>
  save(report: Report): void
  remove(id: string): void
  /** Resolves when everything is written. */
  close(): Promise<void>
}

/** A loss or delay of reports. */
export type ReporterProblem =
  /** Backstop does not answer, or refuses the key. The reports wait. */
  | { readonly kind: 'undelivered'; readonly error: Error; readonly queued: number }
  /** The queue was full, so its oldest report was lost. */
  | { readonly kind: 'dropped'; readonly report: Report }
  /** Backstop refuses this report, so it was lost. */
  | { readonly kind: 'refused'; readonly report: Report; readonly error: ApiProblem }
  /** A call could not be read, so it was made without a report. */
  | { readonly kind: 'unreadable'; readonly method: string; readonly error: unknown }

export interface QueueOptions {
  /** Sends one report. @throws ApiProblem NoAnswer */
  readonly send: (body: NewOperation) => Promise<unknown>
  /** The largest number of waiting operations. */
  readonly maxQueued: number
  readonly spool?: Spool
  readonly onProblem: (problem: ReporterProblem) => void
}

/** The state of a queue. */
export interface QueueStatus {
  /** Operations whose newest report is not delivered yet. */
  readonly queued: number
  readonly delivered: number
  readonly dropped: number
  readonly refused: number
  /** The last failure; null after a delivery. */
  readonly lastError: string | null
}

const AT_ONCE = 4
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The pause between attempts while `flush` waits. */
const FLUSH_PAUSE_MS = 250

/** Delivers reports, and keeps them while Backstop is down. */
export class ReportQueue {
  readonly #options: QueueOptions
  readonly #queued = new Map<string, Report>()
  /** The attempts in flight by operation. Each resolves with whether it delivered the report. */
  readonly #sending = new Map<string, Promise<boolean>>()
  /** When a report is tried again that Backstop answered and did not accept. Such a report delays no other. */
  readonly #retryAtMs = new Map<string, number>()
  #counts = { delivered: 0, dropped: 0, refused: 0 }
  #failures = 0
  #lastError: string | null = null
  #pausedUntilMs = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isFlushing = false
  readonly #loaded: Promise<void>

  constructor(options: QueueOptions) {
    this.#options = options
    this.#loaded = (options.spool?.load() ?? Promise.resolve([])).then(
      reports => this.#addLoaded(reports),
      () => {},
    )
  }

  /** Queues a report and begins to send it. @returns whether it was sent at once and delivered */
  add(report: Report): Promise<boolean> {
    const before = this.#queued.get(report.id)
    const next = before === undefined ? report : mergeReports(before, report)
    if (before === undefined && this.#queued.size >= this.#options.maxQueued) this.#dropOldest()
    this.#queued.set(report.id, next)
    this.#options.spool?.save(next)
    this.#sendNext()
    return this.#sending.get(report.id) ?? Promise.resolve(false)
  }

  status(): QueueStatus {
    return { queued: this.#queued.size, ...this.#counts, lastError: this.#lastError }
  }

  /** Sends everything now. @returns false if reports still wait after `timeoutMs` */
  async flush(timeoutMs: number): Promise<boolean> {
    await this.#loaded
    const endsAtMs = performance.now() + timeoutMs
    this.#isFlushing = true
    try {
      while (this.#queued.size > 0) {
        const leftMs = endsAtMs - performance.now()
        if (leftMs <= 0) return false
        this.#pausedUntilMs = 0
        this.#sendNext()
        await within(leftMs, Promise.all(this.#sending.values()))
        if (this.#lastError !== null) await within(Math.min(leftMs, FLUSH_PAUSE_MS))
      }
      return true
    } finally {
      this.#isFlushing = false
    }
  }

  /** Stops sending. Unsent reports stay in the spool. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer)
    this.#pausedUntilMs = Number.POSITIVE_INFINITY
    await this.#options.spool?.close()
  }

  #addLoaded(reports: readonly Report[]): void {
    const nowMs = Date.now()
    for (const loaded of reports) {
      const report = hasEnd(loaded) ? loaded : endAfterCrash(loaded, nowMs)
      if (report !== loaded) this.#options.spool?.save(report)
      const newer = this.#queued.get(report.id)
      if (newer === undefined && this.#queued.size >= this.#options.maxQueued) this.#dropOldest()
      this.#queued.set(report.id, newer === undefined ? report : mergeReports(report, newer))
    }
    this.#sendNext()
  }

  #dropOldest(): void {
    const [oldest] = [...this.#queued.values()].filter(({ id }) => !this.#sending.has(id))
    if (oldest === undefined) return
    this.#counts.dropped++
    this.#remove(oldest)
    this.#options.onProblem({ kind: 'dropped', report: oldest })
  }

  #remove(report: Report, keepsInSpool = false): void {
    // A newer report of the operation may have replaced this report while it was sent.
    if (this.#queued.get(report.id) !== report) return
    this.#queued.delete(report.id)
    this.#retryAtMs.delete(report.id)
    if (!keepsInSpool) this.#options.spool?.remove(report.id)
  }

  #sendNext(): void {
    const nowMs = Date.now()
    if (nowMs < this.#pausedUntilMs) {
      this.#wakeAt(this.#pausedUntilMs)
      return
    }
    // After a failure one report is tried first, so that a server that comes back is not flooded.
    const atOnce = this.#failures > 0 ? 1 : AT_ONCE
    let dueMs = Number.POSITIVE_INFINITY
    for (const report of this.#queued.values()) {
      if (this.#sending.size >= atOnce) return
      if (this.#sending.has(report.id)) continue
      const atMs = Math.max(report.notBeforeMs ?? 0, this.#retryAtMs.get(report.id) ?? 0)
      if (!this.#isFlushing && atMs > nowMs) dueMs = Math.min(dueMs, atMs)
      else this.#sending.set(report.id, this.#send(report))
    }
    if (dueMs !== Number.POSITIVE_INFINITY) this.#wakeAt(dueMs)
  }

  async #send(report: Report): Promise<boolean> {
    // The attempt begins after it was added to #sending.
    await undefined
    try {
      await this.#post(report)
      this.#counts.delivered++
      this.#failures = 0
      this.#lastError = null
      // A delivered begin stays in the spool, so that the next process reports the end if this process crashes before it.
      this.#remove(report, !hasEnd(report))
      return true
    } catch (error) {
      this.#fail(report, error instanceof Error ? error : new Error(String(error)))
      return false
    } finally {
      this.#sending.delete(report.id)
      this.#sendNext()
    }
  }

  async #post({ body }: Report): Promise<void> {
    try {
      await this.#options.send(body)
    } catch (error) {
      const mayBeRepeat = error instanceof ApiProblem && (error.code === 'idempotency_conflict' || error.status === 400)
      if (!mayBeRepeat) throw error
      await this.#options.send(withoutTimes(body))
    }
  }

  #fail(report: Report, error: Error): void {
    this.#lastError = error.message
    if (error instanceof ApiProblem && isFinal(error)) {
      this.#counts.refused++
      this.#remove(report)
      this.#options.onProblem({ kind: 'refused', report, error })
      return
    }
    if (error instanceof ApiProblem && !isAboutAll(error)) {
      const isFirst = !this.#retryAtMs.has(report.id)
      this.#retryAtMs.set(report.id, Date.now() + LONGEST_PAUSE_MS)
      if (isFirst) this.#options.onProblem({ kind: 'undelivered', error, queued: this.#queued.size })
      return
    }
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures) * (0.5 + Math.random() / 2)
    const askedMs = error instanceof ApiProblem ? (error.retryAfterMs ?? 0) : 0
    this.#failures++
    this.#pausedUntilMs = Date.now() + Math.max(pauseMs, askedMs)
    if (this.#failures === 1) this.#options.onProblem({ kind: 'undelivered', error, queued: this.#queued.size })
  }

  #wakeAt(atMs: number): void {
    clearTimeout(this.#timer)
    if (atMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => this.#sendNext(), Math.max(0, atMs - Date.now()))
    // Reports that wait for Backstop must not keep the software running. `close` waits for them.
    // In browsers a timer is a number.
    const timer = this.#timer as { unref?(): unknown }
    timer.unref?.()
  }
}

/** Waits for a promise, at most for a time. Without a promise it waits for the whole time. */
export async function within<T>(ms: number, promise: Promise<T> = new Promise(() => {})): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** True if the next report would fail, too: the key is refused, there are too many requests, or the server is unavailable. */
function isAboutAll({ status }: ApiProblem): boolean {
  return [401, 408, 425, 429, 502, 503, 504].includes(status)
}

/** True if Backstop will refuse the report also later. A key or a connection can be corrected while the reports wait. */
function isFinal({ status }: ApiProblem): boolean {
  return [400, 409, 413, 415, 422].includes(status)
}
