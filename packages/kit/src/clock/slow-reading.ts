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

/**
 * Returns a function for `Metrics.beforeRead` that reads from a dependency, however often the metrics are read. There is
 * never more than one reading at a time, so that a dependency that hangs collects no requests.
 */
export function createSlowReading({ everyMs, withinMs, read, onFailure }: SlowReading): () => Promise<void> {
  let startedAtMs = Number.NEGATIVE_INFINITY
  let running: Promise<void> | undefined

  return async () => {
    const now = performance.now()
    if (running === undefined) {
      if (now - startedAtMs < everyMs) return
      startedAtMs = now
      running = read()
        .catch(onFailure)
        .finally(() => {
          running = undefined
        })
    }
    await withDeadline(running, withinMs, () => new Error(`No answer within ${withinMs} ms`)).catch(onFailure)
  }
}
