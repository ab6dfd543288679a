import { openMemoryWorld } from './admin-world.ts'
import { describeApi } from './contract/api.contract.ts'

describeApi('memory', () => openMemoryWorld({ outcomeWaitMs: 300 }))
