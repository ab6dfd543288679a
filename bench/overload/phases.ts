/** The outcome of a phase of the open load, from the answers to its requests. */
import { percentile } from '../frame/statistics.ts'

const WINDOW_MS = 100

/** One phase of the load: requests at an even rate. */
export interface Phase {
  readonly perSecond: number
  readonly lengthMs: number
}

/** What happened to the requests that were due in one window of time. */
export interface Window {
  readonly accepted: number
  readonly notAccepted: number
  /** Null if no request was accepted. */
  readonly acceptedP99Ms: number | null
}

export interface PhaseOutcome {
  /** Number of requests by status. `none`: no answer within the time limit, or a broken connection. */
  readonly statuses: Readonly<Record<string, number>>
  /** Number of requests that found no free socket when they were due. */
  readonly waitedForSocket: number
  readonly windows: readonly Window[]
  /** Times from the moment at which a request was due to its answer; null if there are none. */
  readonly accepted: Percentiles | null
  readonly refused: Percentiles | null
}

interface Percentiles {
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Collects the answers to the requests of one phase. */
export class PhaseTally {
  readonly #statuses: Record<string, number> = {}
  readonly #acceptedMs: number[] = []
  readonly #refusedMs: number[] = []
  waitedForSocket = 0
  readonly #windows: { acceptedMs: number[]; notAccepted: number }[]

  constructor(lengthMs: number) {
    this.#windows = Array.from({ length: Math.ceil(lengthMs / WINDOW_MS) }, () => ({ acceptedMs: [], notAccepted: 0 }))
  }

  /** @param dueMs when the request was due, since the start of the phase @param tookMs the time from then to its answer */
  add(status: string, dueMs: number, tookMs: number): void {
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1
    const window = this.#windows[Math.floor(dueMs / WINDOW_MS)]
    if (status === '200') {
      this.#acceptedMs.push(tookMs)
      window?.acceptedMs.push(tookMs)
    } else {
      if (status === '503') this.#refusedMs.push(tookMs)
      if (window !== undefined) window.notAccepted += 1
    }
  }

  outcome(): PhaseOutcome {
    return {
      statuses: this.#statuses,
      waitedForSocket: this.waitedForSocket,
      windows: this.#windows.map(({ acceptedMs, notAccepted }) => ({
        accepted: acceptedMs.length,
        notAccepted,
        acceptedP99Ms: acceptedMs.length === 0 ? null : percentile(acceptedMs, 0.99),
      })),
      accepted: percentilesOf(this.#acceptedMs),
      refused: percentilesOf(this.#refusedMs),
    }
  }
}

function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null
  return { p50Ms: percentile(values, 0.5), p99Ms: percentile(values, 0.99) }
}

/** Number of normal windows in a row after which the server has recovered. */
const NORMAL_WINDOWS = 10

/**
 * The time from the end of the overload until the server behaves as before it: no request is refused, and no window is slower than the
 * slowest one before the overload.
 * @param before windows of the same rate before the overload @param after windows since its end
 * @returns the length of `after` if the server did not recover
 */
export function recoveryMs(before: readonly Window[], after: readonly Window[]): number {
  const slowest = Math.max(...before.map(({ acceptedP99Ms }) => acceptedP99Ms ?? 0))
  const isNormal = ({ notAccepted, acceptedP99Ms }: Window) => notAccepted === 0 && (acceptedP99Ms ?? 0) <= slowest
  for (let at = 0; at + NORMAL_WINDOWS <= after.length; at++) {
    if (after.slice(at, at + NORMAL_WINDOWS).every(isNormal)) return at * WINDOW_MS
  }
  return after.length * WINDOW_MS
}

/** The least number of requests that were accepted in one second, which is zero if the server stops and starts again. */
export function leastAcceptedInASecond(windows: readonly Window[]): number {
  const perSecond = 1_000 / WINDOW_MS
  const seconds = Array.from({ length: Math.floor(windows.length / perSecond) }, (_, second) =>
    windows.slice(second * perSecond, (second + 1) * perSecond).reduce((sum, { accepted }) => sum + accepted, 0),
  )
  return Math.min(...seconds)
}
