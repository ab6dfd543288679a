import { runService } from '@backstop/kit'
import { startNotifier } from './start.ts'

await runService('notifier', startNotifier)
