import { describeLastAdminKey } from './contract/last-admin-key.contract.ts'
import { startMemoryApi } from './test-api.ts'

describeLastAdminKey('memory', startMemoryApi)
