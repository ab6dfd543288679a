import { sweepContract } from '../../test/sweeps.contract.ts'
import { createMemorySweeps } from './memory-sweeps.ts'

sweepContract('in memory', async () => createMemorySweeps())
