import type { StormDocument, StormMemberDocument } from '@backstop/contracts'
import type { ListPosition } from '../../http/cursor.ts'
import type { ReadCollections } from '../../store/stores.ts'

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
  { after, limit }: { readonly after: ListPosition | undefined; readonly limit: number },
  read: (members: readonly StormMemberDocument[]) => Promise<ReadonlyMap<string, Item>>,
): Promise<PlacedItem<Item>[]> {
  const found: PlacedItem<Item>[] = []
  let place = after
  while (found.length < limit) {
    const where = { connection_id, storm_id: _id }
    const members = await stormMembers.page({ where, by: 'opened_at', after: place, limit: AT_ONCE })
    const items = members.length === 0 ? new Map<string, Item>() : await read(members)
    for (const { _id: id, opened_at } of members) {
      place = { at: opened_at, id }
      const item = items.get(id)
      if (item !== undefined) found.push({ item, place })
    }
    if (members.length < AT_ONCE) break
  }
  return found.slice(0, limit)
}
