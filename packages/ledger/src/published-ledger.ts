import type { Producer } from '@backstop/kit/bus'
import type { Clock, Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { MessageEncoder, OutboxSource } from '@backstop/kit/outbox'
import { createApprovalTimers } from './approval-timers.ts'
import type { Ledger, LedgerOptions } from './ledger.ts'
import type { Budgets } from './manage-budgets.ts'
import { type Announcer, createAnnouncer } from './publish/announcer.ts'
import type { InsertAuditRows, PendingRows } from './publish/audit-rows.ts'
import type { Runs } from './runs.ts'

/** Operations, budgets and failed runs over one store. */
export interface Books {
  readonly ledger: Ledger
  readonly budgets: Budgets
  readonly runs: Runs
  /** The outboxes of operations and failed runs. */
  readonly outboxSource: OutboxSource
  /** The audit rows in the outboxes of operations. */
  readonly pendingRows: PendingRows
}

/** Opens the books over a store. */
export type OpenBooks = (options: LedgerOptions) => Books

export interface PublishedLedgerOptions {
  readonly open: OpenBooks
  /** For the service that writes the audit: it moves the rows of operations there. */
  readonly insertAuditRows?: InsertAuditRows
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly clock: Clock
  readonly logger: Logger
}

/** The books of a service that writes them, with their announcer and their timers. */
export interface PublishedLedger extends Omit<Books, 'outboxSource' | 'pendingRows'> {
  /** Publishes the messages of writes, also those that stayed in the outbox after a crash or an outage of the broker. */
  readonly announcer: Periodic & Pick<Announcer, 'flushAuditRows'>
  /** Only one service starts them. */
  readonly approvalTimers: Periodic
}

/** Opens the books. Each write is published a moment later, or by a sweeper if that fails. */
export function publishLedger({ open, insertAuditRows, ...parts }: PublishedLedgerOptions): PublishedLedger {
  const { outboxSource, pendingRows, ...books } = open({
    announce: outbox => announcer.announce(outbox),
  })
  const announcer = createAnnouncer({ ...parts, source: outboxSource, pendingRows, insertAuditRows })
  return { ...books, announcer, approvalTimers: createApprovalTimers({ ...parts, ledger: books.ledger }) }
}
