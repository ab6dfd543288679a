import { runService } from '@backstop/kit'
import { startIngress } from './start.ts'

await runService('ingress', startIngress)
