import type { Collection } from 'mongodb'
import type { Mongo } from '../../../src/mongo/index.ts'
import type { IndexDefinition } from '../indexes.ts'

/** Any document of the tests. */
export interface Thing {
  readonly _id: string
  // biome-ignore lint/suspicious/noExplicitAny: the tests store fields of every kind
  readonly [field: string]: any
}

export type CollectionOfContract = 'things' | 'unique' | 'partial' | 'cases'

/** The collections of the contract and their indexes, of each kind that the product has. */
export const CONTRACT_COLLECTIONS: Readonly<
  Record<CollectionOfContract, { readonly indexes: readonly IndexDefinition[] }>
> = {
  things: { indexes: [{ keys: { at: 1 } }, { keys: { project: 1, search: 1, at: -1, _id: -1 } }] },
  unique: { indexes: [{ keys: { hash: 1 }, options: { unique: true } }] },
  partial: {
    indexes: [
      {
        keys: { issuer: 1, subject: 1 },
        options: { unique: true, partialFilterExpression: { issuer: { $type: 'string' } } },
      },
    ],
  },
  cases: { indexes: [{ keys: { 'current.refs': 1 }, options: { unique: true } }] },
}

/** A database with these collections, and what a test does to it from outside. */
export interface ContractDatabase {
  /** As the product opens it. */
  readonly mongo: Mongo
  /** Carries out the next commit of a transaction, and loses its answer. */
  loseNextCommitAnswer(): void
  /** How many entries the oplog gets from writes. A member of the replica set has each entry as a whole, or not at all. */
  countOplogEntries(write: () => Promise<unknown>): Promise<number>
  /** A position of a change stream that the server does not have any more. */
  positionTooOld(): Promise<string>
  close(): Promise<void>
}

export type OpenContractDatabase = () => Promise<ContractDatabase>

/** The database of the tests, empty before each of them. */
export interface ContractSubject {
  database(): ContractDatabase
  of(name: CollectionOfContract): Collection<Thing>
}

export function collectionOf({ mongo }: ContractDatabase, name: CollectionOfContract): Collection<Thing> {
  return mongo.db.collection<Thing>(name)
}

export async function clearDatabase(database: ContractDatabase): Promise<void> {
  const names = Object.keys(CONTRACT_COLLECTIONS) as CollectionOfContract[]
  await Promise.all(names.map(name => collectionOf(database, name).deleteMany({})))
}

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    value => Promise.reject(new Error(`It did not fail, but returned ${JSON.stringify(value)}`)),
    (error: unknown) => error,
  )
}
