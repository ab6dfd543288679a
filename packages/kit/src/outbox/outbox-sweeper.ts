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
  /** Number of documents per read; 200 by default. */
  readonly limit?: number
  /** Pause between sweeps in milliseconds; 5 s by default. */
  readonly pauseMs?: number | (() => number)
}

/** Minimum age of swept entries, in milliseconds, because the writer of a younger entry may still publish it. */
const SWEEP_OLDER_THAN_MS = 30_000
const SWEEP_INTERVAL_MS = 5_000
const SWEEP_LIMIT = 200

/**
 * Publishes entries that a crash or an unavailable broker left in outboxes. Several replicas may sweep concurrently,
 * because a message that is sent twice has the same id.
 * | Known gap: documents that cannot be published (`outbox.stuck`, always a bug) are read first in every sweep, so
 * `limit` such documents would block the documents behind them until the bug is fixed.
 */
export function createOutboxSweeper(options: OutboxSweeperOptions): Periodic {
  const { source, publisher, clock, logger, limit = SWEEP_LIMIT, pauseMs = SWEEP_INTERVAL_MS } = options

  async function sweep(isStopping: () => boolean): Promise<void> {
    // A full page may be followed by more documents. Stuck documents are returned by every read, so a page with only
    // stuck documents ends the sweep.
    for (let isMore = true; isMore && !isStopping(); ) {
      const outboxes = await source.pending(clock.now() - SWEEP_OLDER_THAN_MS, limit)
      if (outboxes.length === 0) return
      const { stuck } = await publisher.publish(outboxes)
      logger.info({ documents: outboxes.length, stuck }, 'outbox.swept')
      isMore = outboxes.length === limit && stuck < outboxes.length
    }
  }

  return createPeriodic({
    clock,
    pauseMs,
    run: sweep,
    onFailure(error) {
      // An unavailable dependency is expected here: the next sweep finds the same entries.
      const canRetry = isRetryable(error)
      logger[canRetry ? 'warn' : 'error']({ error }, 'outbox.sweep_failed')
    },
  })
}
