import { describeLastAdminKey } from './contract/last-admin-key.contract.ts'
import { startMongoApi } from './mongo-test-api.ts'

describeLastAdminKey('MongoDB', startMongoApi)
