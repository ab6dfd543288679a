import { runService } from '@backstop/kit/service'
import { startIngress } from './start.ts'

await runService('ingress', startIngress)
