import { describeApi } from './contract/api.contract.ts'
import { startMongoApi } from './mongo-test-api.ts'

describeApi('MongoDB and Kafka', () => startMongoApi())
