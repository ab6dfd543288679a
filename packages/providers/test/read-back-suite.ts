import type { Provider } from '../src/provider.ts'
import { describeFailing } from './read-back/failing.ts'
import { describeReading } from './read-back/reading.ts'
import type { Refusal } from './read-back/refusals.ts'
import { describeRefusing } from './read-back/refusing.ts'
import { describeSweeping } from './read-back/sweeping.ts'
import type { OpenWorld } from './read-back/test-accounts.ts'

/**
 * What reading back promises at every provider, over real HTTP: against the provider's account on the simulator, and against
 * servers that do everything else. A new provider calls this with its account and its words of refusal.
 */
export function describeReadBack(provider: Provider, openWorld: OpenWorld, refusals: readonly Refusal[]): void {
  describeReading(provider, openWorld)
  describeRefusing(provider, openWorld, refusals)
  describeFailing(provider, openWorld)
  describeSweeping(provider, openWorld)
}
