import { describeApi, PARTS_OF_SERVERS } from './contract/api.contract.ts'
import { startMongoApi } from './mongo-test-api.ts'

describeApi('MongoDB and Kafka', () => startMongoApi(), PARTS_OF_SERVERS)
