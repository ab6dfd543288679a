import { runService } from '@backstop/kit/service'
import { startNotifier } from './start.ts'

await runService('notifier', startNotifier)
