import { startMongoApi } from './mongo-test-api.ts'
import { describeTwoReplicas } from './two-replicas.contract.ts'

describeTwoReplicas('MongoDB', () => startMongoApi())
