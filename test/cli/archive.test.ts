import { startMemoryApi } from '../../services/admin-api/test/test-api.ts'
import { describeArchive } from './archive.contract.ts'

describeArchive('in memory', () => startMemoryApi(), 1)
