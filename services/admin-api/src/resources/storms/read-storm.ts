import {
  type CountedValue,
  type IncidentDocument,
  partsOfStormScope,
  type StormDocument,
  type StormMemberDocument,
  ValueCounter,
} from '@backstop/contracts'
import { LIST_WITHIN_MS } from '@backstop/kit/mongo'
import type { ListPosition } from '../../http/cursor.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { stopIfAborted, walkPages } from '../../store/walk-pages.ts'
import { readActorNames, readDeletedConnections } from '../actors/name-actors.ts'
import { addIncident, EMPTY_COUNT, type StormCount } from './rules/storm.ts'

interface Stores {
  readonly stormMembers: Pick<ReadCollections['stormMembers'], 'batches'>
  readonly incidents: Pick<ReadCollections['incidents'], 'batches'>
}

interface CountedStores extends Stores {
  readonly actors: ReadCollections['actors']
  readonly connections: ReadCollections['connections']
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

/**
 * Counts the incidents of each storm, and names who made most of them. A storm without incidents is left out. Members do not say what
 * their actor is, so the storm of a deleted connection names none: it may be a person.
 */
export async function countStorms(
  stores: CountedStores,
  storms: readonly StormDocument[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, StormCount>> {
  const counts = new Map<string, StormCount>()
  const actors = new Map<string, ValueCounter<string, null>>()
  for await (const found of readIncidents(stores, storms, ['state'], signal)) {
    for (const { member, incident } of found) {
      const id = member.storm_id ?? ''
      counts.set(id, addIncident(counts.get(id) ?? EMPTY_COUNT, member, incident.state))
      const ofStorm = actors.get(id) ?? new ValueCounter()
      ofStorm.add(member.facts.actor_id, null)
      actors.set(id, ofStorm)
    }
  }
  const most = [...counts].map(([id, count]) => ({ id, count, actor: actors.get(id)?.most(sizeOf(count)) ?? null }))
  const connectionOf = new Map(storms.map(one => [one._id, partsOfStormScope(one.connection_id).connectionId]))
  const [names, deleted] = await Promise.all([
    readActorNames(
      stores,
      most.map(({ actor }) => actor?.value),
    ),
    readDeletedConnections(stores, [...connectionOf.values()]),
  ])
  const namesOf = (id: string) => (deleted.has(connectionOf.get(id) ?? '') ? new Map<string, string>() : names)
  return new Map(most.map(({ id, count, actor }) => [id, { ...count, actor: actor && showActor(actor, namesOf(id)) }]))
}

function showActor(
  { value, count }: CountedValue<string, null>,
  names: ReadonlyMap<string, string>,
): NonNullable<StormCount['actor']> {
  const actor_name = names.get(value)
  return { actor_id: value, ...(actor_name === undefined ? {} : { actor_name }), incidents: count }
}

function sizeOf({ states }: StormCount): number {
  return states.open + states.acknowledged + states.resolved
}

export async function countStorm(
  stores: CountedStores,
  storm: StormDocument,
  signal?: AbortSignal,
): Promise<StormCount> {
  return (await countStorms(stores, [storm], signal)).get(storm._id) ?? EMPTY_COUNT
}

/** Members that are read at once. */
const AT_ONCE = 200

/** An item of a list, and its place. */
export interface PlacedItem<Item> {
  readonly item: Item
  readonly place: ListPosition
}

/**
 * Reads a page of the incidents or actions of a storm, the newest incident first. Only the records of the notifier say what belongs to a
 * storm, so the page is read by them.
 * @param read the items of some members, by the id of the incident; without those that the list does not show
 */
export async function pageOfStorm<Item>(
  { stormMembers }: Pick<ReadCollections, 'stormMembers'>,
  { _id, connection_id }: StormDocument,
  {
    after,
    limit,
    signal,
  }: { readonly after: ListPosition | undefined; readonly limit: number; readonly signal: AbortSignal },
  read: (members: readonly StormMemberDocument[]) => Promise<ReadonlyMap<string, Item>>,
): Promise<PlacedItem<Item>[]> {
  const found: PlacedItem<Item>[] = []
  const where = { connection_id, storm_id: _id }
  const pages = walkPages({
    after,
    size: AT_ONCE,
    signal,
    withinMs: LIST_WITHIN_MS,
    read: (place, size) => stormMembers.page({ where, by: 'opened_at', after: place, limit: size }),
    placeOf,
  })
  for await (const members of pages) {
    const items = members.length === 0 ? new Map<string, Item>() : await read(members)
    for (const member of members) {
      const item = items.get(member._id)
      if (item !== undefined) found.push({ item, place: placeOf(member) })
    }
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

function placeOf({ _id, opened_at }: StormMemberDocument): ListPosition {
  return { at: opened_at, id: _id }
}
