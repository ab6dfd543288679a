import type { Producer } from '@backstop/kit/bus'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import { joinCalls } from '@backstop/kit/join-calls'
import type { Logger } from '@backstop/kit/logger'
import {
  createOutboxPublisher,
  createOutboxSweeper,
  type MessageEncoder,
  type OutboxSource,
  type PendingOutbox,
  type PublishedEntries,
} from '@backstop/kit/outbox'
import { createRowMover, type InsertAuditRows, type PendingRows, splitOutbox } from './audit-rows.ts'
import { createGatherer } from './gather.ts'

export interface AnnouncerOptions {
  readonly source: OutboxSource
  readonly pendingRows: PendingRows
  /** Undefined for a service that writes no audit rows. */
  readonly insertAuditRows: InsertAuditRows | undefined
  readonly producer: Producer
  readonly encoder: MessageEncoder
  readonly clock: Clock
  readonly logger: Logger
}

/** Publishes the messages of writes, and moves their audit rows to the audit. Callers wait for neither. */
export interface Announcer extends Periodic {
  /** @param outbox what a write has just stored */
  announce(outbox: PendingOutbox): void
  /** Resolves when the audit rows that were announced before are in the audit, or left to the sweeper. */
  flushAuditRows(): Promise<void>
}

/**
 * Published entries stay in their documents for one to two of these periods, in milliseconds. Then all entries of a document have mostly been
 * published, and to empty its outbox costs MongoDB half of removing some of them. Shorter than the age of the entries that the sweepers take.
 */
const REMOVE_EVERY_MS = 500

/** Creates the announcer of one outbox source, and its sweepers. */
export function createAnnouncer(options: AnnouncerOptions): Announcer {
  const { source, insertAuditRows, producer, encoder, clock, logger } = options
  const remover = createRemover(source, options)
  const publisher = createOutboxPublisher({
    source: { ...source, published: remover.published },
    producer,
    encoder,
    logger,
  })
  let isStopping = false
  let isKafkaUnavailable = false
  /** One send at a time, so that the messages about one operation keep their order. */
  const publish = joinCalls(
    async (outboxes: readonly PendingOutbox[]) => {
      // A stop waits for one send to an unavailable Kafka, not for many. The next process publishes the rest.
      if (isStopping && isKafkaUnavailable)
        throw new AppError('unavailable', 'Kafka does not answer while the process stops')
      try {
        await publisher.publish(outboxes)
        isKafkaUnavailable = false
      } catch (error) {
        isKafkaUnavailable = true
        throw error
      }
    },
    { maxRuns: 1 },
  )
  const messages = createGatherer({
    clock,
    run: publish,
    onFailure: error => logger.warn({ error }, 'ledger.publish_failed'),
  })
  const rows = insertAuditRows && createRowPath(insertAuditRows, remover, options)
  const sweeper = createOutboxSweeper({
    source,
    publisher: createOutboxPublisher({ source, producer, encoder, logger }),
    clock,
    logger,
  })

  return {
    announce(outbox) {
      const parts = splitOutbox(outbox)
      if (parts.messages.entries.length > 0) messages.add(parts.messages)
      if (parts.rows.entries.length > 0) rows?.add(parts.rows)
    },
    flushAuditRows: async () => rows?.flush(),
    start() {
      sweeper.start()
      rows?.start()
      remover.start()
    },
    async stop() {
      isStopping = true
      await Promise.all([sweeper.stop(), messages.flush(), rows?.stop()])
      await remover.stop()
    },
  }
}

/** The sweep of audit rows walks all operations with an unpublished message, of which an outage of Kafka leaves many, so it is rare. */
const ROW_SWEEP_EVERY_MS = 600_000
/** The pause for three minutes after this process, or perhaps the one before it, left rows. */
const ROW_SWEEP_SOON_MS = 60_000
const SOON_FOR_MS = 180_000

/** Moves the rows of a short time together, and those that were left. */
function createRowPath(
  insert: InsertAuditRows,
  remover: Pick<OutboxSource, 'published'>,
  { source, pendingRows, clock, logger }: AnnouncerOptions,
) {
  let leftAtMs = clock.now()
  const mover = createRowMover(insert, remover, logger)
  const gatherer = createGatherer<PendingOutbox>({
    clock,
    run: outboxes => mover.publish(outboxes),
    onFailure(error) {
      leftAtMs = clock.now()
      logger.warn({ error }, 'ledger.audit_rows_not_moved')
    },
  })
  const sweeper = createOutboxSweeper({
    source: { ...source, ...pendingRows },
    publisher: createRowMover(insert, source, logger),
    pauseMs: () => (clock.now() - leftAtMs < SOON_FOR_MS ? ROW_SWEEP_SOON_MS : ROW_SWEEP_EVERY_MS),
    clock,
    logger,
  })
  return {
    add(outbox: PendingOutbox): void {
      if (!gatherer.add(outbox)) leftAtMs = clock.now()
    },
    flush: () => gatherer.flush(),
    start: () => sweeper.start(),
    stop: () => Promise.all([sweeper.stop(), gatherer.flush()]),
  }
}

/** Removes published entries from their documents, those of up to a second together. */
function createRemover(source: OutboxSource, { clock, logger }: Pick<AnnouncerOptions, 'clock' | 'logger'>) {
  /** By document. What is due is removed with the next command, also the entries that are published until then. */
  let [due, recent] = [new Map<string, string[]>(), new Map<string, string[]>()]
  async function remember(documents: readonly PublishedEntries[]): Promise<void> {
    for (const { documentId, entryIds } of documents) addTo(due.has(documentId) ? due : recent, documentId, entryIds)
  }
  async function removeDue(): Promise<void> {
    const removed = Array.from(due, ([documentId, entryIds]): PublishedEntries => ({ documentId, entryIds }))
    due = recent
    recent = new Map()
    if (removed.length === 0) return
    try {
      await source.published(removed)
    } catch (error) {
      await remember(removed)
      throw error
    }
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'ledger.published_not_removed')
  const periodic = createPeriodic({ clock, pauseMs: REMOVE_EVERY_MS, run: removeDue, onFailure })
  return {
    published: remember,
    start: () => periodic.start(),
    async stop() {
      await periodic.stop()
      for (const [documentId, entryIds] of recent) addTo(due, documentId, entryIds)
      recent = new Map()
      await removeDue().catch(onFailure)
    },
  }
}

function addTo(entries: Map<string, string[]>, documentId: string, entryIds: readonly string[]): void {
  const known = entries.get(documentId)
  if (known === undefined) entries.set(documentId, [...entryIds])
  else known.push(...entryIds)
}
