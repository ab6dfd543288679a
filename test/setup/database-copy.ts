/**
 * Dumps a database and restores it into another one through the driver. It stands for `mongodump --oplog` and `mongorestore`: all
 * documents are of one moment, and indexes are restored with their options.
 */
import type { Db, Document, MongoClient } from 'mongodb'

export interface Dump {
  readonly collections: readonly {
    readonly name: string
    readonly documents: readonly Document[]
    readonly indexes: readonly Document[]
  }[]
}

/** One transaction reads everything, so that the dump is of one moment. */
export async function dumpDatabase(client: MongoClient, dbName: string): Promise<Dump> {
  const db = client.db(dbName)
  const infos = await db.listCollections({ type: 'collection' }, { nameOnly: true }).toArray()
  const names = infos.map(({ name }) => name).filter(name => !name.startsWith('system.'))
  const indexes = new Map(
    await Promise.all(names.map(async name => [name, await db.collection(name).indexes()] as const)),
  )
  return client.withSession(session =>
    session.withTransaction(
      async () => {
        const collections: Dump['collections'][number][] = []
        for (const name of names) {
          const documents = await db.collection(name).find({}, { session, promoteValues: false }).toArray()
          collections.push({ name, documents, indexes: indexes.get(name) ?? [] })
        }
        return { collections }
      },
      { readConcern: { level: 'snapshot' } },
    ),
  )
}

/** Restores into a database that must not exist. */
export async function restoreDatabase(db: Db, { collections }: Dump): Promise<void> {
  if (await db.listCollections().hasNext()) throw new Error(`${db.databaseName} is not empty`)
  for (const { name, documents, indexes } of collections) {
    const collection = await db.createCollection(name)
    for (const { key, v: _, ...options } of indexes) {
      if (options.name !== '_id_') await collection.createIndex(key, options)
    }
    if (documents.length > 0) await collection.insertMany([...documents])
  }
}
