import { withDeadline } from './with-deadline.ts'

export interface SlowReading {
  /** Shortest time between the starts of two readings, in milliseconds. */
  readonly everyMs: number
  /** How long a caller waits for a reading, in milliseconds. The reading itself continues. */
  readonly withinMs: number
  /** Reads from a dependency and sets the gauges. */
  read(): Promise<void>
  /** Called if a reading fails or takes longer than `withinMs`: removes the gauges, because old values would hide the failure. */
  onFailure(error: unknown): void
}

/** A reading that takes longer than this hangs, in milliseconds, and another one may begin. */
const HANGS_AFTER_MS = 60_000

/**
 * Returns a function for `Metrics.beforeRead` that reads from a dependency, however often the metrics are read. A
 * reading begins only after the last one, so that a dependency that hangs does not collect requests.
 */
export function createSlowReading(
  { everyMs, withinMs, read, onFailure }: SlowReading,
  hangsAfterMs = HANGS_AFTER_MS,
): () => Promise<void> {
  let startedAtMs = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined

  return async () => {
    const now = performance.now()
    if (running === undefined) {
      if (now - startedAtMs < everyMs) return
      startedAtMs = now
      running = withDeadline(read(), hangsAfterMs, () => new Error(`The reading hangs for ${hangsAfterMs} ms`))
        .catch(onFailure)
        .finally(() => {
          running = undefined
        })
    }
    await withDeadline(running, withinMs, () => new Error(`No answer within ${withinMs} ms`)).catch(onFailure)
  }
}
