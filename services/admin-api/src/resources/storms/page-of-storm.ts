import type { StormDocument, StormMemberDocument } from '@backstop/contracts'
import { LIST_WITHIN_MS } from '@backstop/kit/mongo'
import type { ListPosition } from '../../http/cursor.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { walkPages } from '../../store/walk-pages.ts'

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
