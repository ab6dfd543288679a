import type { Clock } from '@backstop/kit/clock'

/**
 * How long items gather, in milliseconds. At some hundred writes a second, a command for each of them costs this process and the server more
 * than the rest of the write.
 */
const GATHER_MS = 25
/** Items above this number are left to a sweeper, because the server is slower than the writes. */
const MAX_WAITING = 5_000

export interface GathererOptions<T> {
  readonly clock: Clock
  /** Carries out the work on all items that gathered. */
  run(items: readonly T[]): Promise<unknown>
  /** Called when a run fails. Its items are left to a sweeper. */
  onFailure(error: unknown): void
}

/** Gathers items for one run on all of them. */
export interface Gatherer<T> {
  /** @returns false if the item is left to a sweeper, because too many wait */
  add(item: T): boolean
  /** Runs on the items that have gathered, without waiting for more. Resolves when this run and earlier ones have ended. */
  flush(): Promise<void>
}

/** Creates a gatherer of items that a database keeps, so that none is lost with this process. */
export function createGatherer<T>({ clock, run, onFailure }: GathererOptions<T>): Gatherer<T> {
  let gathered: T[] = []
  let cancel: (() => void) | undefined
  let waiting = 0
  const running = new Set<Promise<void>>()

  function runGathered(): void {
    cancel?.()
    cancel = undefined
    const items = gathered
    gathered = []
    if (items.length === 0) return
    const done = run(items)
      .catch(onFailure)
      .then(() => {
        waiting -= items.length
        running.delete(done)
      })
    running.add(done)
  }

  return {
    add(item) {
      if (waiting >= MAX_WAITING) return false
      waiting++
      gathered.push(item)
      cancel ??= clock.schedule(GATHER_MS, runGathered)
      return true
    },
    async flush() {
      runGathered()
      await Promise.all(running)
    },
  }
}
