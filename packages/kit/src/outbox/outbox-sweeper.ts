import type { Clock } from '../clock/clock.ts'
import { createPeriodic, type Periodic } from '../clock/periodic.ts'
import { isRetryable } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { OutboxPublisher, OutboxSource } from './outbox-publisher.ts'

export interface OutboxSweeperOptions {
  readonly source: OutboxSource
  readonly publisher: OutboxPublisher
  readonly clock: Clock
  readonly logger: Logger
  /** How old an entry is before it counts as left behind; younger ones are still with whoever wrote them. */
  readonly olderThanMs?: number
  readonly intervalMs?: number
  /** Documents per read. */
  readonly limit?: number
}

/** As DESIGN has it: "a sweeper publishes outbox entries older than 30 s". */
export const SWEEP_OLDER_THAN_MS = 30_000
const SWEEP_INTERVAL_MS = 5_000
const SWEEP_LIMIT = 200

/**
 * Publishes what a crash, or a broker that was away, left in outboxes. Several replicas may sweep at once: a message sent
 * twice carries the same id. Every document is read again in each sweep, so no state is lost with a process.
 *
 * Known gap: documents that cannot be published (`outbox.stuck`, always a fault of ours) come back first each time, and as
 * many of them as `limit` would keep the sweep from what lies behind them. It heals when the fault is mended.
 */
export function createOutboxSweeper(options: OutboxSweeperOptions): Periodic {
  const { source, publisher, clock, logger } = options
  const olderThanMs = options.olderThanMs ?? SWEEP_OLDER_THAN_MS
  const intervalMs = options.intervalMs ?? SWEEP_INTERVAL_MS
  const limit = options.limit ?? SWEEP_LIMIT

  async function sweep(isStopping: () => boolean): Promise<void> {
    // A full page may have more behind it; stuck documents come back each time, so a page of nothing else ends the sweep.
    for (let isMore = true; isMore && !isStopping(); ) {
      const outboxes = await source.pending(clock.now() - olderThanMs, limit)
      if (outboxes.length === 0) return
      const { stuck } = await publisher.publish(outboxes)
      logger.info({ documents: outboxes.length, stuck }, 'outbox.swept')
      isMore = outboxes.length === limit && stuck < outboxes.length
    }
  }

  return createPeriodic({
    clock,
    pauseMs: intervalMs,
    run: sweep,
    onFailure(error) {
      // An outage is what a sweeper is for: the next round finds the same entries.
      const canRetry = isRetryable(error)
      logger[canRetry ? 'warn' : 'error']({ error }, 'outbox.sweep_failed')
    },
  })
}
