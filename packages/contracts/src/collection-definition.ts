import type { CreateIndexesOptions, IndexSpecification } from 'mongodb'

/** One MongoDB collection as the deploy job creates it. */
export interface CollectionDefinition {
  /** The service, package or job that writes the collection. rights.ts names every writer. */
  readonly owner: 'admin-api' | 'reconciler' | 'notifier' | 'ledger' | 'kit' | 'provision'
  /** True if it grows with each event or command. Then it is stored as `LARGE_COLLECTION`. */
  readonly isLarge?: true
  readonly indexes: readonly { keys: IndexSpecification; options?: CreateIndexesOptions }[]
}

/**
 * How MongoDB stores large collections and their indexes (options of WiredTiger, WT_SESSION::create). Documents are in blocks of twice the usual
 * size, because larger ones shrink more. A block takes multiples of 512 bytes instead of 4 KiB. Indexes are compressed with snappy, because most
 * changes of an index in random order compress one more block at the next checkpoint; zstd costs a fifth more of an event (docs/storage.md).
 */
export const LARGE_COLLECTION = {
  storageEngine: storedAs('block_compressor=zstd,leaf_page_max=64KB,allocation_size=512B'),
  indexOptionDefaults: { storageEngine: storedAs('block_compressor=snappy,allocation_size=512B') },
} as const

function storedAs(configString: string) {
  return { wiredTiger: { configString } }
}

export const DAY_S = 86_400

/** How long deliveries are kept, with the copies of their alerts. */
export const DELIVERY_DAYS = 90
/**
 * How long the personal data of an action is kept after it was first seen. An alert contains it only in the first half of
 * this time, so that no delivery is kept longer.
 */
export const PERSONAL_DATA_DAYS = 2 * DELIVERY_DAYS
