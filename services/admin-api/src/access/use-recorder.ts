import { type Clock, createPeriodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'

/** Records when keys and sessions were used last. An operator sees from it which of them are still in use. */
export interface UseRecorder {
  start(): void
  /**
   * Remembers a use. It writes nothing, so it costs a request no time.
   * @param id the key or session
   * @param known the stored time of the last use
   * @param write stores the time of a use
   */
  record(id: string, known: Date | null, write: (usedAt: Date) => Promise<unknown>): void
  /** Stops the periodic writes and stores the remaining uses. */
  stop(): Promise<void>
}

/** Resolution of a recorded use: a finer one would cost a write for every request. */
const RESOLUTION_MS = 60_000
/** How often uses are stored, in milliseconds. Known gap: a killed process loses the uses of this time. */
const STORE_EVERY_MS = 5_000
/** Keys and sessions whose uses wait in memory. Beyond it, their next use is recorded. */
const MAX_PENDING = 10_000

interface PendingUse {
  readonly at: Date
  readonly write: (usedAt: Date) => Promise<unknown>
}

export function createUseRecorder({ clock, logger }: { clock: Clock; logger: Logger }): UseRecorder {
  let pending = new Map<string, PendingUse>()
  async function store(): Promise<void> {
    const due = pending
    pending = new Map()
    for (const { at, write } of due.values()) await write(at)
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'access.uses_not_stored')
  const periodic = createPeriodic({ clock, pauseMs: STORE_EVERY_MS, run: store, onFailure })
  return {
    start: () => periodic.start(),
    record(id, known, write) {
      const now = clock.now()
      if (known !== null && now - known.getTime() < RESOLUTION_MS) return
      if (pending.size < MAX_PENDING) pending.set(id, { at: new Date(now), write })
    },
    async stop() {
      await periodic.stop()
      await store().catch(onFailure)
    },
  }
}
