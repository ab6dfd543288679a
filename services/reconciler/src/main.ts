import { runService } from '@backstop/kit/service'
import { startReconciler } from './start.ts'

await runService('reconciler', startReconciler)
