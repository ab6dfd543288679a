import { ApiProblem } from '../api-problem.ts'
import { Attempt, within } from './attempt.ts'
import { endAfterCrash, hasEnd, mergeReports, type Report, type ReportBody, withoutTimes } from './report.ts'

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
  /**
   * Sends reports together.
   * @returns for each report, in their order, why it was refused; undefined if it was recorded
   * @throws ApiProblem NoAnswer if all of them failed
   */
  readonly send: (bodies: readonly ReportBody[]) => Promise<readonly (ApiProblem | undefined)[]>
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

/** While one batch is sent, the next one can leave: a report need not wait for the answer of the batch before it. */
const BATCHES_AT_ONCE = 2
/** A report has at most about 2 KB, and a batch at most 2 MB. */
const REPORTS_IN_BATCH = 500
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The longest wait that an answer may ask for. */
const LONGEST_ASKED_PAUSE_MS = 3_600_000
/** The pause between attempts while `flush` waits. */
const FLUSH_PAUSE_MS = 250

/** Delivers reports, and keeps them while Backstop is down. */
export class ReportQueue {
  readonly #options: QueueOptions
  readonly #queued = new Map<string, Report>()
  /** The next attempt of each operation whose caller may wait for it. It resolves with whether the report was delivered. */
  readonly #attempts = new Map<string, Attempt>()
  /** The operations whose report is being sent. */
  readonly #sending = new Set<string>()
  readonly #batches = new Set<Promise<void>>()
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

  /** Queues a report and begins to send it. @returns whether it was delivered; false at once if it has to wait */
  add(report: Report): Promise<boolean> {
    const before = this.#queued.get(report.id)
    const next = before === undefined ? report : mergeReports(before, report)
    if (before === undefined && this.#queued.size >= this.#options.maxQueued) this.#dropOldest()
    this.#queued.set(report.id, next)
    this.#options.spool?.save(next)
    const attempt = this.#attempts.get(report.id) ?? new Attempt()
    if (!this.#mustWait(next, Date.now())) this.#attempts.set(report.id, attempt)
    else attempt.end(false)
    this.#sendNext()
    return attempt.isDelivered
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
        await within(leftMs, Promise.all(this.#batches))
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
    this.#attempts.get(report.id)?.end(false)
    this.#attempts.delete(report.id)
    if (!keepsInSpool) this.#options.spool?.remove(report.id)
  }

  /** When a report may be sent, in milliseconds since the epoch. */
  #dueAt({ id, notBeforeMs = 0 }: Report): number {
    return Math.max(notBeforeMs, this.#retryAtMs.get(id) ?? 0)
  }

  #mustWait(report: Report, nowMs: number): boolean {
    return nowMs < this.#pausedUntilMs || (!this.#isFlushing && nowMs < this.#dueAt(report))
  }

  #sendNext(): void {
    const nowMs = Date.now()
    if (nowMs < this.#pausedUntilMs) {
      this.#wakeAt(this.#pausedUntilMs)
      return
    }
    // After a failure one report is tried first, so that a server that comes back is not flooded.
    const [batches, reports] = this.#failures > 0 ? [1, 1] : [BATCHES_AT_ONCE, REPORTS_IN_BATCH]
    if (this.#batches.size >= batches) return
    let wakeAtMs = Number.POSITIVE_INFINITY
    const batch: Report[] = []
    for (const report of this.#queued.values()) {
      if (batch.length >= reports) break
      if (this.#sending.has(report.id)) continue
      if (this.#mustWait(report, nowMs)) wakeAtMs = Math.min(wakeAtMs, this.#dueAt(report))
      else batch.push(report)
    }
    if (wakeAtMs !== Number.POSITIVE_INFINITY) this.#wakeAt(wakeAtMs)
    if (batch.length > 0) this.#begin(batch)
  }

  #begin(batch: readonly Report[]): void {
    for (const { id } of batch) this.#sending.add(id)
    const sent = this.#send(batch).finally(() => {
      this.#batches.delete(sent)
      for (const { id } of batch) this.#sending.delete(id)
      this.#sendNext()
    })
    this.#batches.add(sent)
  }

  async #send(batch: readonly Report[]): Promise<void> {
    try {
      const problems = await this.#post(batch)
      batch.forEach((report, at) => {
        this.#end(report, problems[at])
      })
      const outage = problems.find(problem => problem !== undefined && isAboutAll(problem))
      if (outage !== undefined) this.#pause(outage)
    } catch (error) {
      const outage = error instanceof Error ? error : new Error(String(error))
      // The report itself may be the cause, so the next attempt sends another.
      const [only] = batch
      const mayBeCause = batch.length === 1 && outage instanceof ApiProblem && outage.status === 500
      if (mayBeCause && only !== undefined) this.#retryAtMs.set(only.id, Date.now() + LONGEST_PAUSE_MS)
      this.#pause(outage)
    }
  }

  /** @returns why each report was not recorded, in their order @throws Error for an outage */
  async #post(batch: readonly Report[]): Promise<readonly (ApiProblem | undefined)[]> {
    const problems = await this.#postBodies(batch.map(({ body }) => body))
    // A repeated call with the same idempotency key has other times than the first.
    const repeats = batch.flatMap((report, at) => (mayBeRepeat(problems[at]) ? [{ report, at }] : []))
    if (repeats.length === 0) return problems
    const again = await this.#postBodies(repeats.map(({ report }) => withoutTimes(report.body)))
    return problems.map((problem, at) => {
      const repeat = repeats.findIndex(one => one.at === at)
      return repeat < 0 ? problem : again[repeat]
    })
  }

  async #postBodies(bodies: readonly ReportBody[]): Promise<readonly (ApiProblem | undefined)[]> {
    try {
      return await this.#options.send(bodies)
    } catch (error) {
      if (!(error instanceof ApiProblem && isAboutBodies(error))) throw error
      if (bodies.length === 1) return [error]
      // One invalid report refuses the whole batch, so its halves are sent apart.
      const half = Math.ceil(bodies.length / 2)
      return [...(await this.#postBodies(bodies.slice(0, half))), ...(await this.#postBodies(bodies.slice(half)))]
    }
  }

  #end(report: Report, problem: ApiProblem | undefined): void {
    const attempt = this.#attempts.get(report.id)
    this.#attempts.delete(report.id)
    if (problem === undefined) this.#succeed(report)
    else this.#fail(report, problem)
    attempt?.end(problem === undefined)
  }

  #succeed(report: Report): void {
    this.#counts.delivered++
    this.#failures = 0
    this.#lastError = null
    // A delivered begin stays in the spool, so that the next process reports the end if this process crashes before it.
    this.#remove(report, !hasEnd(report))
  }

  #fail(report: Report, problem: ApiProblem): void {
    this.#lastError = problem.message
    if (isFinal(problem)) {
      this.#counts.refused++
      this.#remove(report)
      this.#options.onProblem({ kind: 'refused', report, error: problem })
    } else if (!isAboutAll(problem)) {
      const isFirst = !this.#retryAtMs.has(report.id)
      this.#retryAtMs.set(report.id, Date.now() + LONGEST_PAUSE_MS)
      if (isFirst) this.#options.onProblem({ kind: 'undelivered', error: problem, queued: this.#queued.size })
    }
  }

  /** Everything waits. */
  #pause(error: Error): void {
    this.#lastError = error.message
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures) * (0.5 + Math.random() / 2)
    const askedMs = error instanceof ApiProblem ? Math.min(error.retryAfterMs ?? 0, LONGEST_ASKED_PAUSE_MS) : 0
    this.#failures++
    this.#pausedUntilMs = Date.now() + Math.max(pauseMs, askedMs)
    for (const attempt of this.#attempts.values()) attempt.end(false)
    this.#attempts.clear()
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

function mayBeRepeat(problem: Error | undefined): boolean {
  return problem instanceof ApiProblem && (problem.code === 'idempotency_conflict' || problem.status === 400)
}

/** True if the API refuses what the batch contains. Without a code of the API, something before it has answered, such as a proxy. */
function isAboutBodies({ status, code }: ApiProblem): boolean {
  return code !== 'unknown' && (status === 400 || status === 413)
}

/** True if the next report would fail, too: the key is refused, there are too many requests, or the server is unavailable. */
function isAboutAll({ status }: ApiProblem): boolean {
  return [401, 408, 425, 429, 502, 503, 504].includes(status)
}

/** True if Backstop will refuse the report also later. A key or a connection can be corrected while the reports wait. */
function isFinal({ status }: ApiProblem): boolean {
  return [400, 409, 413, 415, 422].includes(status)
}
