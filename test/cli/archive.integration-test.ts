import { startMongoApi } from '../../services/admin-api/test/mongo-test-api.ts'
import { IS_SOAK } from '../setup/soak.ts'
import { describeArchive } from './archive.contract.ts'

describeArchive('over MongoDB and Kafka', () => startMongoApi(), IS_SOAK ? 1 : 3)
