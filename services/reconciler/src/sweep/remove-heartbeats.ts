import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { HeartbeatStore } from './heartbeat-store.ts'

const EVERY_MS = 600_000
/** How long the inbox knows an event of a heartbeat, so that a repeat of its message is not decided again. */
const KEPT_MS = 3_600_000

export interface HeartbeatRemoverParts {
  readonly heartbeats: HeartbeatStore
  readonly clock: Clock
  readonly logger: Logger
}

/** Removes what finished heartbeats leave behind. */
export function createHeartbeatRemover({ heartbeats, clock, logger }: HeartbeatRemoverParts): Periodic {
  return createPeriodic({
    clock,
    pauseMs: EVERY_MS,
    run: async () => void (await heartbeats.removeFinished(new Date(clock.now() - KEPT_MS))),
    onFailure: error => logger.warn({ error }, 'heartbeats.not_removed'),
  })
}
