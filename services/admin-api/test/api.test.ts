import { describeRoles } from './contract/access-of-every-route.contract.ts'
import { ALL_PARTS, describeApi } from './contract/api.contract.ts'
import { describeForgedCursors } from './contract/cursors.contract.ts'
import { startMemoryApi } from './test-api.ts'

const parts = [...ALL_PARTS, describeRoles, describeForgedCursors]
describeApi('the simulated MongoDB', () => startMemoryApi({ outcomeWaitMs: 1_000 }), parts)
