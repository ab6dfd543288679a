import type { IncidentDocument, StormDocument, StormMemberDocument } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'
import { stopIfAborted } from '../../store/walk-pages.ts'
import { addIncident, EMPTY_COUNT, type StormCount } from './rules/storm.ts'

interface Stores {
  readonly stormMembers: Pick<ReadCollections['stormMembers'], 'batches'>
  readonly incidents: Pick<ReadCollections['incidents'], 'batches'>
}

type Member = Pick<StormMemberDocument, '_id' | 'storm_id' | 'amount' | 'currency' | 'state' | 'facts'>

/** Reads fields of the incidents of these storms in batches. A member whose incident is not stored is left out. */
export async function* readIncidents<F extends keyof IncidentDocument & string>(
  { stormMembers, incidents }: Stores,
  storms: readonly StormDocument[],
  fields: readonly F[],
  signal: AbortSignal | undefined,
): AsyncGenerator<{ readonly member: Member; readonly incident: Pick<IncidentDocument, F | '_id'> }[]> {
  if (storms.length === 0) return
  const where = {
    connection_id: { in: [...new Set(storms.map(({ connection_id }) => connection_id))] },
    storm_id: { in: storms.map(({ _id }) => _id) },
  }
  for await (const members of stormMembers.batches(where, ['storm_id', 'amount', 'currency', 'state', 'facts'])) {
    const memberOf = new Map(members.map(member => [member._id, member]))
    stopIfAborted(signal)
    for await (const found of incidents.batches({ _id: { in: [...memberOf.keys()] } }, fields)) {
      yield found.flatMap(incident => {
        const member = memberOf.get(incident._id)
        return member === undefined ? [] : [{ member, incident }]
      })
    }
  }
}

/** Counts the incidents of each storm. A storm without incidents is left out. */
export async function countStorms(
  stores: Stores,
  storms: readonly StormDocument[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, StormCount>> {
  const counts = new Map<string, StormCount>()
  for await (const found of readIncidents(stores, storms, ['state'], signal)) {
    for (const { member, incident } of found) {
      const id = member.storm_id ?? ''
      counts.set(id, addIncident(counts.get(id) ?? EMPTY_COUNT, member, incident.state))
    }
  }
  return counts
}

export async function countStorm(stores: Stores, storm: StormDocument, signal?: AbortSignal): Promise<StormCount> {
  return (await countStorms(stores, [storm], signal)).get(storm._id) ?? EMPTY_COUNT
}
