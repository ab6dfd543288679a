import type { IncidentDocument, StormDocument, StormOverview } from '@backstop/contracts'
import { LIST_WITHIN_MS } from '@backstop/kit/mongo'
import type { ListPosition } from '../../http/cursor.ts'
import { isWithin } from '../../http/read-routes.ts'
import type { PageRequest } from '../../store/collection.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { walkPages } from '../../store/walk-pages.ts'
import { countStorms, type PlacedItem } from '../storms/read-storm.ts'
import { EMPTY_COUNT, showStorm } from '../storms/rules/storm.ts'
import { readStormIds } from './show-incidents.ts'

/** Incidents that are read at once while the members of a storm are skipped. */
const AT_ONCE = 200

type Stores = Pick<ReadCollections, 'incidents' | 'stormMembers' | 'storms'>
type Listed = Pick<PageRequest<IncidentDocument>, 'where' | 'window'>

/** Reads a page of incidents, newest first. Of each storm it has only the newest incident that fits. */
export async function pageFolded(
  stores: Stores,
  listed: Listed,
  {
    after,
    limit,
    signal,
  }: { readonly after: ListPosition | undefined; readonly limit: number; readonly signal: AbortSignal },
): Promise<PlacedItem<IncidentDocument>[]> {
  const found: PlacedItem<IncidentDocument>[] = []
  /** Whether a storm still needs its row, by its id. A storm that is not stored any more folds nothing. */
  const isDue = new Map<string, boolean>()
  const pages = walkPages<IncidentDocument, ListPosition>({
    after,
    size: limit,
    laterSize: AT_ONCE,
    signal,
    withinMs: LIST_WITHIN_MS,
    read: (place, size) => stores.incidents.page({ ...listed, by: 'opened', after: place, limit: size }),
    placeOf,
  })
  for await (const incidents of pages) {
    const stormIds = await readStormIds(stores, incidents)
    const met = new Set([...stormIds.values()].filter(id => !isDue.has(id)))
    const storms = met.size === 0 ? [] : await stores.storms.findAll({ _id: { in: [...met] } })
    const before = await Promise.all(storms.map(storm => isListedBefore(stores, storm, listed, after)))
    for (const [index, { _id }] of storms.entries()) isDue.set(_id, before[index] === false)
    for (const item of incidents) {
      const storm = stormIds.get(item._id) ?? ''
      if (isDue.get(storm) === false) continue
      if (isDue.has(storm)) isDue.set(storm, false)
      found.push({ item, place: placeOf(item) })
      if (found.length === limit) return found
    }
  }
  return found
}

/** True if an earlier page of the list has an incident of the storm. */
async function isListedBefore(
  { incidents, stormMembers }: Stores,
  { _id, connection_id, bursts = [] }: StormDocument,
  { where, window = {} }: Listed,
  after: ListPosition | undefined,
): Promise<boolean> {
  if (after === undefined) return false
  const isBefore = ({ _id: id, opened }: Pick<IncidentDocument, '_id' | 'opened'>) =>
    isWithin(window, opened) && (opened > after.at || (opened.getTime() === after.at.getTime() && id >= after.id))
  const hasOne = async (ids: readonly string[]) => {
    for await (const batch of incidents.batches({ ...where, _id: { in: ids } }, ['opened'])) {
      if (batch.some(isBefore)) return true
    }
    return false
  }
  if (await hasOne(bursts.map(({ incident_id }) => incident_id))) return true
  const members = { connection_id, storm_id: _id, opened_at: { min: after.at } }
  for await (const batch of stormMembers.batches(members, [])) {
    if (await hasOne(batch.map(member => member._id))) return true
  }
  return false
}

function placeOf({ _id, opened }: IncidentDocument): ListPosition {
  return { at: opened, id: _id }
}

/** The storms with these ids, with their incidents counted. */
export async function showStorms(
  stores: Pick<ReadCollections, 'actors' | 'connections' | 'incidents' | 'stormMembers' | 'storms'>,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StormOverview>> {
  if (ids.length === 0) return new Map()
  const storms = await stores.storms.findAll({ _id: { in: [...new Set(ids)] } })
  const counts = await countStorms(stores, storms, signal)
  return new Map(storms.map(storm => [storm._id, showStorm(storm, counts.get(storm._id) ?? EMPTY_COUNT)]))
}
