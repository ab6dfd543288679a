import { runService } from '@backstop/kit'
import { startAdminApi } from './start.ts'

await runService('admin-api', startAdminApi)
