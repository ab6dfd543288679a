import { COLLECTIONS } from '@backstop/contracts'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import { describeApprovals } from './approvals.contract.ts'
import { describeBudgets } from './budgets.contract.ts'
import { describeLedger } from './ledger.contract.ts'
import { testBooksOver } from './mongo-books.ts'
import { describeRuns } from './runs.contract.ts'

const open = testBooksOver(openSimulatedMongo(COLLECTIONS).mongo.db)

describeLedger('the simulated MongoDB', open)
describeApprovals('the simulated MongoDB', open)
describeBudgets('the simulated MongoDB', open)
describeRuns('the simulated MongoDB', open)
