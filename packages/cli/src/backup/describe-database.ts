import type { Db, Document } from 'mongodb'

/** What a backup contains, and what continues when services start with it. */
export interface Contents {
  /** The newest event that was decided, action that was recorded, and change that was audited; null if there is none. */
  readonly newest: { readonly event: string | null; readonly action: string | null; readonly audit: string | null }
  readonly documents: Readonly<Record<string, number>>
  /** Second looks that are pending. They are done after the start. */
  readonly pending_looks: number
  /** Documents with messages that were not published. They are published after the start. */
  readonly unpublished: number
  /** Deliveries that waited for an attempt. Without the old Kafka they need a replay (docs/backup.md). */
  readonly waiting_deliveries: number
}

const COUNTED = ['projects', 'connections', 'channels', 'actions', 'incidents', 'operations', 'deliveries', 'audit']

export async function describeDatabase(db: Db): Promise<Contents> {
  const newestOf = async (collection: string, field: string) => {
    const [found] = await db
      .collection<Document>(collection)
      .find({}, { projection: { [field]: 1 }, sort: { [field]: -1 }, limit: 1 })
      .toArray()
    return found?.[field] instanceof Date ? found[field].toISOString() : null
  }
  const counts = await Promise.all(
    COUNTED.map(async name => [name, await db.collection(name).countDocuments()] as const),
  )
  const outboxes = await Promise.all([
    db.collection('subjects').countDocuments({ 'current.outbox.at': { $gt: 0 } }),
    db.collection('incidents').countDocuments({ 'outbox.at': { $gt: 0 } }),
    db.collection('operations').countDocuments({ outbox_at: { $exists: true } }),
    db.collection('storms').countDocuments({ 'outbox.at': { $gt: 0 } }),
  ])
  return {
    newest: {
      event: await newestOf('inbox', 'received_at'),
      action: await newestOf('actions', 'first_seen'),
      audit: await newestOf('audit', 'at'),
    },
    documents: Object.fromEntries(counts),
    pending_looks: await db.collection('subjects').countDocuments({ 'current.nextLookAt': { $exists: true } }),
    unpublished: outboxes.reduce((sum, count) => sum + count, 0),
    waiting_deliveries: await db
      .collection('deliveries')
      .countDocuments({ state: { $in: ['pending', 'retrying'] }, test: false }),
  }
}
