import type { OutboxSource } from '@backstop/kit'
import type { Db } from 'mongodb'
import { createLedger, type Ledger, type LedgerOptions } from './ledger.ts'
import { createMemoryOperationStore } from './store/memory-store.ts'
import { createMongoOperationStore } from './store/mongo-store.ts'

export type { OperationConnection } from './domain/operation.ts'
export {
  decideTransition,
  hasEnded,
  type IllegalReason,
  type TransitionVerdict,
} from './domain/transition.ts'
export type { Ledger, LedgerOptions, OperationFilter, RecordOutcome } from './ledger.ts'
export { createMongoOperationOutbox } from './store/mongo-store.ts'

/** The ledger over MongoDB, collections `operations` and `first_executions`. */
export function createMongoLedger(db: Db, options: LedgerOptions): Ledger {
  return createLedger(createMongoOperationStore(db), options)
}

/** The ledger in memory, with the outboxes of its operations. */
export function createMemoryLedger(options: LedgerOptions): { ledger: Ledger; outboxSource: OutboxSource } {
  const { store, outboxSource } = createMemoryOperationStore()
  return { ledger: createLedger(store, options), outboxSource }
}
