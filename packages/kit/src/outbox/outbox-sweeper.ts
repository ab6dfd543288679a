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
  /** Age from which an entry counts as left behind; the writer of a younger one may still publish it. */
  readonly olderThanMs?: number
  readonly intervalMs?: number
  /** Documents per read. */
  readonly limit?: number
}

export const SWEEP_OLDER_THAN_MS = 30_000
const SWEEP_INTERVAL_MS = 5_000
const SWEEP_LIMIT = 200

/**
 * Publishes entries that a crash or an unavailable broker left in outboxes. Several replicas may sweep at once: a message sent twice has the same
 * id.
 *
 * Known gap: documents that cannot be published (`outbox.stuck`, always a bug) are read first in every sweep, so `limit` of them would block the
 * documents behind them until the bug is fixed.
 */
export function createOutboxSweeper(options: OutboxSweeperOptions): Periodic {
  const { source, publisher, clock, logger } = options
  const olderThanMs = options.olderThanMs ?? SWEEP_OLDER_THAN_MS
  const intervalMs = options.intervalMs ?? SWEEP_INTERVAL_MS
  const limit = options.limit ?? SWEEP_LIMIT

  async function sweep(isStopping: () => boolean): Promise<void> {
    // More may follow a full page. Stuck documents are read each time, so a page of only these ends the sweep.
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
