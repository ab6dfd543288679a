import { COLLECTIONS } from '@backstop/contracts'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import { expect, test } from 'vitest'
import { createLedger } from '../src/ledger.ts'
import { createMongoOperationStore } from '../src/store/mongo-operations.ts'
import { describeApprovals } from './approvals.contract.ts'
import { NOW, openProject } from './books.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeLedger } from './ledger.contract.ts'
import { testBooksOver } from './mongo-books.ts'
import { describeRuns } from './runs.contract.ts'

const open = testBooksOver(openSimulatedMongo(COLLECTIONS).mongo.db)

describeLedger('the simulated MongoDB', open)
describeApprovals('the simulated MongoDB', open)
describeBudgets('the simulated MongoDB', open)
describeRuns('the simulated MongoDB', open)

test('the next report of an operation that has not ended needs no read, and that of an ended one reads it', async () => {
  const store = createMongoOperationStore(openSimulatedMongo(COLLECTIONS).mongo.db)
  let loads = 0
  const load: typeof store.load = id => {
    loads++
    return store.load(id)
  }
  const ledger = createLedger({ ...store, load }, { announce: () => {} })
  const { connection, report } = openProject()
  const { operation_id: id } = (await ledger.record(report(), connection, NOW)).operation
  expect(await ledger.projectOf(id)).toMatchObject({ project_id: connection.project_id })
  await ledger.transition(id, { to: 'executing' }, NOW + 1)
  await ledger.transition(id, { to: 'completed' }, NOW + 2)
  expect(loads).toBe(0)
  await ledger.transition(id, { to: 'completed' }, NOW + 3)
  expect(loads).toBe(1)
})
