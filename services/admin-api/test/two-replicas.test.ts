import { startMemoryApi } from './test-api.ts'
import { describeTwoReplicas } from './two-replicas.contract.ts'

describeTwoReplicas('memory', () => startMemoryApi())
