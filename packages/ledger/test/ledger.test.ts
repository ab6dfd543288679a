import { createMemoryLedger } from '../src/index.ts'
import { describeLedger } from './ledger.contract.ts'

describeLedger('memory', async options => createMemoryLedger(options))
