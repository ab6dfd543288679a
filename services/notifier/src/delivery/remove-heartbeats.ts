import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'

const EVERY_MS = 600_000
/** Long enough to see in the deliveries how the last heartbeats went. */
const KEPT_MS = 3_600_000

export interface HeartbeatRemoverParts {
  readonly deliveries: Pick<DeliveryStore, 'removeHeartbeats'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Removes the records of delivered heartbeats. */
export function createHeartbeatRemover({ deliveries, clock, logger }: HeartbeatRemoverParts): Periodic {
  return createPeriodic({
    clock,
    pauseMs: EVERY_MS,
    run: () => deliveries.removeHeartbeats(new Date(clock.now() - KEPT_MS)),
    onFailure: error => logger.warn({ error }, 'heartbeats.not_removed'),
  })
}
