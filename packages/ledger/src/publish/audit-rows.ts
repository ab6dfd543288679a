import type { AuditDocument, OutboxEntry } from '@backstop/contracts'
import type { Logger } from '@backstop/kit/logger'
import type { OutboxPublisher, OutboxSource, PendingOutbox } from '@backstop/kit/outbox'

/** The topic of outbox entries that are audit rows. They go to the collection `audit`, not to Kafka. */
export const AUDIT_TOPIC = 'audit'

/** The outbox entry of an audit row; none without a row. */
export function auditEntries(row: AuditDocument | undefined): OutboxEntry[] {
  return row === undefined ? [] : [{ id: row._id, topic: AUDIT_TOPIC, key: row.target, message: row }]
}

export function isAuditEntry({ topic }: OutboxEntry): boolean {
  return topic === AUDIT_TOPIC
}

/** Port to the audit rows in outboxes: `mongo-outbox.ts`. */
export type PendingRows = Pick<OutboxSource, 'pending'>

/** Inserts rows into the audit, except those that it has. */
export type InsertAuditRows = (rows: readonly AuditDocument[]) => Promise<unknown>

/** Moves audit rows from outboxes to the audit. After a crash in between they are moved again, which changes nothing. */
export function createRowMover(
  insert: InsertAuditRows,
  { published }: Pick<OutboxSource, 'published'>,
  logger: Logger,
): OutboxPublisher {
  return {
    async publish(outboxes) {
      const usable = outboxes.map(outbox => ({ ...outbox, entries: outbox.entries.filter(isRow) }))
      const stuck = outboxes.filter(({ entries }, index) => entries.length > (usable[index]?.entries.length ?? 0))
      for (const { documentId } of stuck) logger.error({ document_id: documentId }, 'outbox.stuck')
      const rows = usable.flatMap(({ entries }) => entries.map(({ message }) => message as AuditDocument))
      if (rows.length > 0) await insert(rows)
      await published(usable.map(({ documentId, entries }) => ({ documentId, entryIds: entries.map(({ id }) => id) })))
      return { stuck: stuck.length }
    },
  }
}

/** Somebody may have written anything into the database. A row without a MAC of its writer joins the chain as such. */
function isRow({ message }: OutboxEntry): boolean {
  return typeof (message as Partial<AuditDocument> | null)?._id === 'string'
}

/** The messages and the audit rows of an outbox. */
export function splitOutbox({ documentId, entries }: PendingOutbox): { messages: PendingOutbox; rows: PendingOutbox } {
  return {
    messages: { documentId, entries: entries.filter(entry => !isAuditEntry(entry)) },
    rows: { documentId, entries: entries.filter(isAuditEntry) },
  }
}
