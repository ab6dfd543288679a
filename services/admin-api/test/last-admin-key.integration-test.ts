import { describeLastAdminKey } from './contract/last-admin-key.contract.ts'
import { openMongoWorld } from './mongo-world.ts'

describeLastAdminKey('MongoDB', openMongoWorld)
