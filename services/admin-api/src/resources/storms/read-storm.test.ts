import type {
  ActorDocument,
  ConnectionDocument,
  IncidentDocument,
  IncidentState,
  StormDocument,
  StormMemberDocument,
} from '@backstop/contracts'
import { expect, test } from 'vitest'
import { createMemoryStores } from '../../../test/memory-stores.ts'
import { countStorms } from './read-storm.ts'

const storm = (id: string) => ({ _id: id, connection_id: 'con_1' }) as StormDocument

async function createStores(perStorm: number) {
  const { stormMembers, incidents, actors, connections } = createMemoryStores()
  const states: IncidentState[] = ['open', 'acknowledged', 'resolved']
  for (const storm_id of ['stm_1', 'stm_2']) {
    for (let index = 0; index < perStorm; index++) {
      const _id = `${storm_id}/inc_${index}`
      const member = {
        _id,
        connection_id: 'con_1',
        storm_id,
        amount: 100,
        currency: 'eur',
        state: 'succeeded',
        facts: { mode: index % 2 === 0 ? 'live' : 'test', actor_id: index === 0 ? 'acr_2' : 'acr_1' },
      } as const
      await stormMembers.put(member as unknown as StormMemberDocument)
      await incidents.put({ _id, state: states[index % 3], summary: 'long' } as unknown as IncidentDocument)
    }
  }
  const said = { _id: 'acr_1', project_id: 'prj_1', name: 'Support tool', removed_at: null }
  await actors.put(said as unknown as ActorDocument)
  return { stormMembers, incidents, actors, connections }
}

test('counts the incidents of each storm without reading whole documents, and no more of them at once than a batch', async () => {
  const stores = await createStores(2_500)
  const read: { count: number; fields: string[] }[] = []
  const watched = {
    stormMembers: { batches: stores.stormMembers.batches },
    actors: stores.actors,
    connections: stores.connections,
    incidents: {
      batches: async function* (where, fields) {
        for await (const batch of stores.incidents.batches(where, fields)) {
          read.push({ count: batch.length, fields: [...new Set(batch.flatMap(one => Object.keys(one)))].toSorted() })
          yield batch
        }
      } as typeof stores.incidents.batches,
    },
  }
  const counts = await countStorms(watched, [storm('stm_1'), storm('stm_2')])
  expect(counts.get('stm_1')?.states).toEqual({ open: 834, acknowledged: 833, resolved: 833 })
  expect(counts.get('stm_2')?.states).toEqual({ open: 834, acknowledged: 833, resolved: 833 })
  expect(counts.get('stm_2')?.money).toEqual([
    { currency: 'eur', amount: 125_000, count: 1_250, mode: 'live' },
    { currency: 'eur', amount: 125_000, count: 1_250, mode: 'test' },
  ])
  expect(read.reduce((all, { count }) => all + count, 0)).toBe(5_000)
  expect(Math.max(...read.map(({ count }) => count))).toBeLessThanOrEqual(1_000)
  expect(new Set(read.flatMap(({ fields }) => fields))).toEqual(new Set(['_id', 'state']))
})

test('leaves out a member whose incident is not stored, with its money', async () => {
  const stores = await createStores(3)
  await stores.incidents.remove({ _id: 'stm_1/inc_0' })
  const counts = await countStorms(stores, [storm('stm_1')])
  expect(counts.get('stm_1')).toEqual({
    states: { open: 0, acknowledged: 1, resolved: 1 },
    money: [
      { currency: 'eur', amount: 100, count: 1, mode: 'test' },
      { currency: 'eur', amount: 100, count: 1, mode: 'live' },
    ],
    actor: { actor_id: 'acr_1', actor_name: 'Support tool', incidents: 2 },
  })
  expect(counts.get('stm_2')).toBeUndefined()
})

test('names nobody of a storm of a deleted connection, and the actors of other storms', async () => {
  const stores = await createStores(3)
  const members = await stores.stormMembers.findAll({ storm_id: 'stm_1' })
  for (const member of members) await stores.stormMembers.put({ ...member, connection_id: 'con_2/acct_1' })
  await stores.connections.put({
    _id: 'con_2',
    project_id: 'prj_1',
    status: 'deleted',
  } as unknown as ConnectionDocument)
  const ofAccount = { ...storm('stm_1'), connection_id: 'con_2/acct_1' }
  const counts = await countStorms(stores, [ofAccount, storm('stm_2')])
  expect(counts.get('stm_1')?.actor).toEqual({ actor_id: 'acr_1', incidents: 2 })
  expect(counts.get('stm_2')?.actor).toEqual({ actor_id: 'acr_1', actor_name: 'Support tool', incidents: 2 })
})
