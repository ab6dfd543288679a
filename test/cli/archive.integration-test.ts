import { startMongoApi } from '../../services/admin-api/test/mongo-test-api.ts'
import { describeArchive } from './archive.contract.ts'

describeArchive('over MongoDB and Kafka', () => startMongoApi())
