import { describeApi } from './contract/api.contract.ts'
import { startMemoryApi } from './test-api.ts'

describeApi('memory', () => startMemoryApi({ outcomeWaitMs: 1_000 }))
