import type { Clock } from './clock.ts'

export interface PeriodicOptions {
  readonly clock: Clock
  /** Pause between the end of one run and the start of the next, in milliseconds. */
  readonly pauseMs: number
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
