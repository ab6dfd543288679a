import { ProviderKind } from '@backstop/contracts'
import { REFUSALS } from '../test/read-back/refusals.ts'
import { WORLDS } from '../test/read-back/test-accounts.ts'
import { describeReadBack } from '../test/read-back-suite.ts'
import { PROVIDERS } from './registry.ts'

for (const kind of ProviderKind.options) describeReadBack(PROVIDERS[kind], WORLDS[kind], REFUSALS[kind])
