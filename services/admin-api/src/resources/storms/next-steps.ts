import { providerStepsOfStorm } from '@backstop/channels'
import type { StormDocument, StormMemberDocument, StormWithSteps } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'
import type { StormCount } from './rules/storm.ts'

/** What to do at the provider about a storm; null if every incident is resolved. */
export async function nextStepsOf(
  { stormMembers }: { readonly stormMembers: Pick<ReadCollections['stormMembers'], 'batches'> },
  storm: StormDocument,
  { states, money }: StormCount,
): Promise<StormWithSteps['next_steps']> {
  if (states.open + states.acknowledged === 0) return null
  const members = { count: 0, firstMs: storm.began_at.getTime() }
  const [channels, keyNames, modes, kinds] = [counter(), counter(), counter(), counter()] as const
  const where = { connection_id: storm.connection_id, storm_id: storm._id }
  for await (const batch of stormMembers.batches(where, ['facts', 'kind', 'opened_at'])) {
    for (const { facts, kind, opened_at } of batch) {
      members.count++
      members.firstMs = Math.min(members.firstMs, opened_at.getTime())
      channels.add(facts.channel)
      keyNames.add(facts.key_name)
      modes.add(facts.mode)
      kinds.add(kind)
    }
  }
  const half = members.count / 2
  const { sentence, steps } = providerStepsOfStorm({
    provider: storm.provider,
    mode: (modes.most(members.count) ?? null) as StormMemberDocument['facts']['mode'],
    kind: (kinds.most(0) ?? 'refund') as StormMemberDocument['kind'],
    hasMoney: money.length > 0,
    first_at: new Date(members.firstMs).toISOString(),
    origin: {
      channel: (channels.most(half) ?? null) as StormMemberDocument['facts']['channel'],
      key_name: keyNames.most(half) ?? null,
      // Members have no name of a user, because it is personal data.
      user: null,
    },
  })
  return { sentence, steps: [...steps] }
}

/** Counts values. */
function counter() {
  const counts = new Map<string, number>()
  return {
    add(value: string | null): void {
      if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1)
    },
    /** The value that most members have, if at least this many have it. */
    most(atLeast: number): string | undefined {
      const [most] = [...counts].sort(([, a], [, b]) => b - a)
      return most !== undefined && most[1] >= atLeast ? most[0] : undefined
    },
  }
}
