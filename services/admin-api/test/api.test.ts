import { describeApi } from './contract/api.contract.ts'
import { describeForgedCursors } from './contract/cursors.contract.ts'
import { describeRoles } from './contract/foreign-project.contract.ts'
import { startMemoryApi } from './test-api.ts'

describeApi('memory', () => startMemoryApi({ outcomeWaitMs: 1_000 }), [describeRoles, describeForgedCursors])
