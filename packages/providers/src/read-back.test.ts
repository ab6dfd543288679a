import { ProviderKind } from '@backstop/contracts'
import { REFUSALS } from '../test/read-back/refusals.ts'
import { TEST_ACCOUNTS } from '../test/read-back/test-accounts.ts'
import { describeReadBack } from '../test/read-back-suite.ts'
import { PROVIDERS } from './registry.ts'

for (const kind of ProviderKind.options) describeReadBack(PROVIDERS[kind], TEST_ACCOUNTS[kind], REFUSALS[kind])
