import { afterAll } from 'vitest'
import { describeApprovals } from './approvals.contract.ts'
import type { OpenTestBooks } from './books.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeLedger } from './ledger.contract.ts'
import { type LedgerDatabase, openLedgerDatabase } from './mongo-books.ts'
import { describeRuns } from './runs.contract.ts'

let database: Promise<LedgerDatabase> | undefined
afterAll(async () => (await database)?.close())

const open: OpenTestBooks = async options => {
  database ??= openLedgerDatabase()
  return (await database).open(options)
}

describeLedger('MongoDB', open)
describeApprovals('MongoDB', open)
describeBudgets('MongoDB', open)
describeRuns('MongoDB', open)
