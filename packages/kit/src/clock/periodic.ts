import type { Clock } from './clock.ts'

export interface PeriodicOptions {
  readonly clock: Clock
  /** Pause between the end of one run and the beginning of the next, in milliseconds. */
  readonly pauseMs: number
  /** One run; what it did not finish is for the next. @param isStopping whether to end early */
  run(isStopping: () => boolean): Promise<void>
  /** A run failed. The next one comes all the same. */
  onFailure(error: unknown): void
}

export interface Periodic {
  start(): void
  /** Waits for the run at work. */
  stop(): Promise<void>
}

/** Something that is done again and again, never twice at once: sweeps, the nets under what usually works. */
export function createPeriodic({ clock, pauseMs, run, onFailure }: PeriodicOptions): Periodic {
  let isStopped = false
  let cancel: (() => void) | undefined
  let atWork: Promise<void> = Promise.resolve()

  function schedule(): void {
    cancel = clock.schedule(pauseMs, () => {
      atWork = run(() => isStopped)
        .catch(onFailure)
        .then(() => {
          if (!isStopped) schedule()
        })
    })
  }

  return {
    start: schedule,
    async stop() {
      isStopped = true
      cancel?.()
      await atWork
    },
  }
}
