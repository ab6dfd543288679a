import type { ReadObject } from '@backstop/contracts'
import type { ListedEvent } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'
import { type List, type ProviderObject, readPage, unusableItem } from './objects.ts'
import type { Feed } from './sweep.ts'

/** One read of a page. */
export interface FeedRead {
  readonly client: ApiClient
  readonly budget: Budget
  /** Milliseconds since the epoch: older items are not needed. */
  readonly from: number
}

/** A list that a sweep walks through, newest first. */
export interface FeedList {
  /** The name in stored cursors, so it must not change. */
  readonly name: string
  /** @param from milliseconds since the epoch: older items are not needed */
  list(from: number): List
  /**
   * For lists that cannot be filtered by time: the time by which an item is sorted, in milliseconds since the epoch. The sweep
   * ends at the first item that is too old. An item with the time NaN is unusable.
   */
  timeOf?(item: ProviderObject): number
  /** The objects to report for the items. An unusable object has its fault. It may read more from the provider. */
  objects(
    items: readonly ProviderObject[],
    read: FeedRead,
  ): readonly ReadObject[] | Promise<readonly ReadObject[] | Failed>
  /** Lists of events only: the event in an item; undefined for an unusable item. */
  eventOf?(item: ProviderObject): ListedEvent | undefined
}

/** A feed over a list of the provider's API. An unusable item has its fault and does not affect the rest of the page. */
export function feedOf(client: ApiClient, budget: Budget, { name, list, timeOf, objects, eventOf }: FeedList): Feed {
  return {
    name,
    async read(from, place) {
      const { type, ...asked } = list(from)
      const page = await readPage(client, { type, ...asked }, place, budget)
      // The list exists, so a missing page means that the provider does not know the position.
      if (page.kind === 'missing') return failed('question_refused', client.dialect.name, `no such place in ${name}`)
      if (page.kind === 'failed') return page
      const unusable = [...page.unusable]
      const items: ProviderObject[] = []
      const events: ListedEvent[] = []
      let reachedOld = false
      for (const item of page.items) {
        const at = timeOf?.(item) ?? from
        const event = eventOf?.(item)
        if (Number.isNaN(at)) unusable.push(unusableItem(type, item, 'it has no time'))
        else if (at < from) reachedOld = true
        else if (eventOf !== undefined && event === undefined) unusable.push(unusableItem(type, item, 'it is no event'))
        else {
          items.push(item)
          if (event !== undefined) events.push(event)
        }
      }
      const reported = await objects(items, { client, budget, from })
      if ('kind' in reported) return reported
      return { kind: 'page', objects: [...reported, ...unusable], events, next: reachedOld ? null : page.next }
    },
  }
}
