import { COLLECTIONS } from '@backstop/contracts'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import type { Db } from 'mongodb'
import type { Collection, ReadCollection } from '../src/store/collection.ts'
import { type AdminCollections, type AdminStores, createMongoStores } from '../src/store/stores.ts'

/** The stores over a database. Tests may also write the collections of other services. */
export type TestStores = Pick<AdminStores, 'transaction'> & {
  readonly [Name in keyof AdminCollections]: AdminCollections[Name] extends ReadCollection<infer D>
    ? Collection<D>
    : never
} & { readonly db: Db }

/** Opens the stores over a database. */
export function openTestStores(db: Db): TestStores {
  // The collections of other services can be written, too; only their type forbids it.
  return { ...createMongoStores(db), db } as unknown as TestStores
}

/** Creates the stores over a simulated MongoDB. */
export function createMemoryStores(): TestStores {
  return openTestStores(openSimulatedMongo(COLLECTIONS).mongo.db)
}
