import { describeApi } from './contract/api.contract.ts'
import { openMongoWorld } from './mongo-world.ts'

describeApi('MongoDB and Kafka', openMongoWorld)
