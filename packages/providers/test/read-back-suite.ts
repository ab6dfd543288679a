import type { Provider } from '../src/provider.ts'
import { describeFailures } from './read-back/failing.ts'
import { describeReads } from './read-back/reading.ts'
import type { Refusal } from './read-back/refusals.ts'
import { describeRefusals } from './read-back/refusing.ts'
import { describeSweeps } from './read-back/sweeping.ts'
import type { OpenTestAccount } from './read-back/test-accounts.ts'

/**
 * The tests of reading back that every provider must pass, over real HTTP: against an account on the simulator, and against
 * servers that fail. A new provider calls this function with its account and its refusals.
 */
export function describeReadBack(
  provider: Provider,
  openTestAccount: OpenTestAccount,
  refusals: readonly Refusal[],
): void {
  describeReads(provider, openTestAccount)
  describeRefusals(provider, openTestAccount, refusals)
  describeFailures(provider, openTestAccount)
  describeSweeps(provider, openTestAccount)
}
