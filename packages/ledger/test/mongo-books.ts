import { COLLECTIONS, type CollectionDefinition, type ProjectDocument } from '@backstop/contracts'
import { connectMongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import { openMongoBooks } from '../src/index.ts'
import type { OpenBooks } from '../src/published-ledger.ts'
import type { OpenTestBooks } from './books.ts'

export interface LedgerDatabase {
  readonly stack: TestStack
  /** Opens the books as a service does. */
  readonly openBooks: OpenBooks
  readonly open: OpenTestBooks
  close(): Promise<void>
}

/**
 * A separate database with the ledger's collections and indexes, including the index that makes idempotency keys
 * unique.
 */
export async function openLedgerDatabase(): Promise<LedgerDatabase> {
  const stack = await testStack()
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'backstop-test' })
  for (const [name, definition] of Object.entries<CollectionDefinition>(COLLECTIONS)) {
    if (definition.owner !== 'ledger') continue
    await mongo.db.createCollection(name)
    for (const { keys, options } of definition.indexes) await mongo.db.collection(name).createIndex(keys, options ?? {})
  }
  const openBooks: OpenBooks = options => openMongoBooks(mongo.db, options)
  const projects = mongo.db.collection<ProjectDocument>('projects')
  return {
    stack,
    openBooks,
    open: async options => ({
      ...openBooks(options),
      async requireApproval(projectId, deadlineSeconds) {
        const at = new Date()
        const setting = { requires_approval: true, approval_deadline_seconds: deadlineSeconds }
        const project = { name: 'Shop', branding: {}, version: 1, created_at: at, updated_at: at }
        await projects.replaceOne({ _id: projectId }, { ...project, ...setting }, { upsert: true })
      },
    }),
    async close() {
      await mongo.stop()
      await stack.close()
    },
  }
}
