import { COLLECTIONS } from '@backstop/contracts'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import { type LedgerOptions, openMongoBooks } from '../src/index.ts'
import type { Books } from '../src/published-ledger.ts'

/** The books over a simulated MongoDB. */
export function openMemoryBooks(options: LedgerOptions): Books {
  return openMongoBooks(openSimulatedMongo(COLLECTIONS).mongo.db, options)
}
