import { COLLECTIONS, type CollectionDefinition, type ProjectDocument } from '@backstop/contracts'
import { connectMongo } from '@backstop/kit/mongo'
import { type TestStack, testStack } from '@backstop/kit/test'
import type { Db } from 'mongodb'
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
  return {
    stack,
    openBooks: options => openMongoBooks(mongo.db, options),
    open: testBooksOver(mongo.db),
    async close() {
      await mongo.stop()
      await stack.close()
    },
  }
}

/** Opens the books over a database, which also has the projects. */
export function testBooksOver(db: Db): OpenTestBooks {
  const projects = db.collection<ProjectDocument>('projects')
  return async options => ({
    ...openMongoBooks(db, options),
    async requireApproval(projectId, deadlineSeconds) {
      const at = new Date()
      const setting = { requires_approval: true, approval_deadline_seconds: deadlineSeconds }
      const project = { name: 'Shop', branding: {}, version: 1, created_at: at, updated_at: at }
      await projects.replaceOne({ _id: projectId }, { ...project, ...setting }, { upsert: true })
    },
  })
}
