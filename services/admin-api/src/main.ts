import { runService } from '@backstop/kit/service'
import { startAdminApi } from './start.ts'

await runService('admin-api', startAdminApi)
