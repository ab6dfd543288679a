import {
  type Clock,
  crashPoint,
  createOutboxPublisher,
  createOutboxSweeper,
  type Logger,
  type MessageEncoder,
  type OutboxSource,
  type PendingOutbox,
  type Periodic,
  type Producer,
} from '@backstop/kit'
import { createApprovalTimers } from './approval-timers.ts'
import type { Budgets } from './budgets.ts'
import type { Ledger, LedgerOptions } from './ledger.ts'
import type { Runs } from './runs.ts'

/** All that the ledger keeps, over one store. */
export interface Books {
  readonly ledger: Ledger
  readonly budgets: Budgets
  readonly runs: Runs
  /** The outboxes of operations and failed runs. */
  readonly outboxSource: OutboxSource
}

export type OpenBooks = (options: LedgerOptions) => Books

export interface PublishedLedgerOptions {
  readonly open: OpenBooks
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly clock: Clock
  readonly logger: Logger
}

/** The books of a service that writes them, with what publishes and what runs by itself. */
export interface PublishedLedger extends Omit<Books, 'outboxSource'> {
  /** Publishes what a crash, or a broker that was away, left behind. */
  readonly outboxSweeper: Periodic
  /** Started in one service; the others need none. */
  readonly approvalTimers: Periodic
}

/** Opens the books so that each write is published at once, or else by the sweeper. */
export function publishLedger(options: PublishedLedgerOptions): PublishedLedger {
  const { producer, encoder, clock, logger } = options
  const { outboxSource: source, ...books } = options.open({ announce: outbox => announce(outbox) })
  const publisher = createOutboxPublisher({
    source,
    producer,
    encoder,
    logger,
    afterSend: () => crashPoint('ledger.after-publish'),
  })

  /** It is stored: whatever fails here is made good by the sweeper, and is no failure of whoever wrote it. */
  async function announce(outbox: PendingOutbox): Promise<void> {
    crashPoint('ledger.after-write')
    try {
      await publisher.publish([outbox])
    } catch (error) {
      logger.warn({ error, document_id: outbox.documentId }, 'ledger.published_later')
    }
  }

  return {
    ...books,
    outboxSweeper: createOutboxSweeper({ source, publisher, clock, logger }),
    approvalTimers: createApprovalTimers({ ledger: books.ledger, clock, logger }),
  }
}
