import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { describeChangeStreams } from './change-streams.contract.ts'
import { describeRefusals } from './errors.contract.ts'
import { describeQueries } from './queries.contract.ts'
import {
  type CollectionOfContract,
  type ContractDatabase,
  clearDatabase,
  collectionOf,
  type OpenContractDatabase,
} from './test-database.ts'
import { describeTransactions } from './transactions.contract.ts'
import { describeUpdates } from './updates.contract.ts'
import { describeWrites } from './writes.contract.ts'

/**
 * The behaviour of MongoDB that the product relies on, seen through the driver. It runs on the real server and on the simulated one, so
 * that the simulated one is neither kinder nor stricter.
 */
export function describeDriver(name: string, open: OpenContractDatabase): void {
  describe(`the driver over ${name}`, () => {
    let database: ContractDatabase | undefined
    beforeAll(async () => {
      database = await open()
    })
    beforeEach(() => clearDatabase(database!))
    afterAll(() => database?.close())
    const subject = { database: () => database!, of: (name: CollectionOfContract) => collectionOf(database!, name) }
    describeRefusals(subject)
    describeUpdates(subject)
    describeWrites(subject)
    describeQueries(subject)
    describeTransactions(subject)
    describeChangeStreams(subject)
  })
}
