import type { Clock } from './clock.ts'

export interface PeriodicOptions {
  readonly clock: Clock
  /** Pause between the end of one run and the start of the next, in milliseconds. A function is called after each run. */
  readonly pauseMs: number | (() => number)
  /** The largest part of the time that runs take, from 0 to 1: a long run is followed by a longer pause. No limit by default. */
  readonly maxShare?: number
  /** One run. The next run continues unfinished work. @param isStopping returns true when the run should end early */
  run(isStopping: () => boolean): Promise<void>
  /** Called when a run fails. The next run still follows. */
  onFailure(error: unknown): void
}

export interface Periodic {
  start(): void
  /** Waits for the current run. */
  stop(): Promise<void>
}

/** Runs a task repeatedly, without overlap, for example a sweep. */
export function createPeriodic({ clock, pauseMs, maxShare = 1, run, onFailure }: PeriodicOptions): Periodic {
  const pause = typeof pauseMs === 'number' ? () => pauseMs : pauseMs
  let isStopped = false
  let cancel: (() => void) | undefined
  let atWork: Promise<void> = Promise.resolve()

  function schedule(afterMs: number): void {
    cancel = clock.schedule(afterMs, () => {
      const startedAt = clock.now()
      atWork = run(() => isStopped)
        .catch(onFailure)
        .then(() => {
          const durationMs = clock.now() - startedAt
          if (!isStopped) schedule(Math.max(pause(), durationMs * (1 / maxShare - 1)))
        })
    })
  }

  return {
    start: () => schedule(pause()),
    async stop() {
      isStopped = true
      cancel?.()
      await atWork
    },
  }
}
