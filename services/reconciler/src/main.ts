import { runService } from '@backstop/kit'
import { startReconciler } from './start.ts'

await runService('reconciler', startReconciler)
