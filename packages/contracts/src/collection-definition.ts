import type { CreateIndexesOptions, IndexSpecification } from 'mongodb'

/** One MongoDB collection as the deploy job creates it. */
export interface CollectionDefinition {
  /** The service, package or job that writes the collection. rights.ts names every writer. */
  readonly owner: 'admin-api' | 'reconciler' | 'notifier' | 'ledger' | 'kit' | 'provision'
  readonly indexes: readonly { keys: IndexSpecification; options?: CreateIndexesOptions }[]
}

export const DAY_S = 86_400

/** How long deliveries are kept, with the copies of their alerts. */
export const DELIVERY_DAYS = 90
/**
 * How long the personal data of an action is kept after it was first seen. An alert contains it only in the first half of
 * this time, so that no delivery is kept longer.
 */
export const PERSONAL_DATA_DAYS = 2 * DELIVERY_DAYS
