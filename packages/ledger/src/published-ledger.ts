import type { Producer } from '@backstop/kit/bus'
import type { Clock, Periodic } from '@backstop/kit/clock'
import { joinCalls } from '@backstop/kit/join-calls'
import type { Logger } from '@backstop/kit/logger'
import {
  createOutboxPublisher,
  createOutboxSweeper,
  type MessageEncoder,
  type OutboxSource,
  type PendingOutbox,
} from '@backstop/kit/outbox'
import { createApprovalTimers } from './approval-timers.ts'
import type { Ledger, LedgerOptions } from './ledger.ts'
import type { Budgets } from './manage-budgets.ts'
import type { Runs } from './runs.ts'

/** Operations, budgets and failed runs over one store. */
export interface Books {
  readonly ledger: Ledger
  readonly budgets: Budgets
  readonly runs: Runs
  /** The outboxes of operations and failed runs. */
  readonly outboxSource: OutboxSource
}

/** Opens the books over a store. */
export type OpenBooks = (options: LedgerOptions) => Books

export interface PublishedLedgerOptions {
  readonly open: OpenBooks
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly clock: Clock
  readonly logger: Logger
}

/** The books of a service that writes them, with their outbox sweeper and their timers. */
export interface PublishedLedger extends Omit<Books, 'outboxSource'> {
  /** Publishes messages that stayed in the outbox after a crash or an outage of the broker. */
  readonly outboxSweeper: Periodic
  /** Only one service starts them. */
  readonly approvalTimers: Periodic
}

/** Opens the books. Each write is published at once, or later by the outbox sweeper if that fails. */
export function publishLedger(options: PublishedLedgerOptions): PublishedLedger {
  const { producer, encoder, clock, logger } = options
  const { outboxSource: source, ...books } = options.open({ announce: outbox => announce(outbox) })
  const publisher = createOutboxPublisher({ source, producer, encoder, logger })

  /** Concurrent writes share the send to Kafka and the command that empties their outboxes. */
  const publish = joinCalls((outboxes: readonly PendingOutbox[]) => publisher.publish(outboxes), { maxRuns: 2 })

  /** The write is already stored, so a failure here must not reach the caller. The outbox sweeper publishes later. */
  async function announce(outbox: PendingOutbox): Promise<void> {
    try {
      await publish([outbox])
    } catch (error) {
      logger.warn({ error, document_id: outbox.documentId }, 'ledger.publish_failed')
    }
  }

  return {
    ...books,
    outboxSweeper: createOutboxSweeper({ source, publisher, clock, logger }),
    approvalTimers: createApprovalTimers({ ledger: books.ledger, clock, logger }),
  }
}
