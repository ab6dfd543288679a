import type { ReadObject } from '@backstop/contracts'
import type { ListedEvent } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'
import { type List, type ProviderObject, readPage, unusableItem } from './objects.ts'
import type { Feed } from './walk.ts'

/** A list that is walked through, newest first. */
export interface FeedList {
  /** Stays the same for good: stored cursors hold it. */
  readonly name: string
  /** @param from milliseconds since the epoch: the provider need not show what is older */
  list(from: number): List
  /**
   * When an item took its place in the list, in milliseconds since the epoch, for lists that cannot be asked for a time: the
   * walk ends where one is too old. An item whose time is NaN is unusable.
   */
  timeOf?(item: ProviderObject): number
  /** What of the items is to be told; one that turns out to be unusable carries its fault. May read more of the provider. */
  objects(items: readonly ProviderObject[], from: number): Promise<readonly ReadObject[] | Failed>
  /** The event that an item is; undefined when it lacks what an event has, which makes it unusable. For lists of events alone. */
  eventOf?(item: ProviderObject): ListedEvent | undefined
}

/** A feed over a list of the provider's API. An item that cannot be used comes with its fault; the rest of its page counts. */
export function feedOf(client: ApiClient, budget: Budget, { name, list, timeOf, objects, eventOf }: FeedList): Feed {
  return {
    name,
    async read(from, place) {
      const { type, ...asked } = list(from)
      const page = await readPage(client, { type, ...asked }, place, budget)
      // Only a place in the list can be missing, as lists themselves exist.
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
      const told = await objects(items, from)
      if ('kind' in told) return told
      return { kind: 'page', objects: [...told, ...unusable], events, next: reachedOld ? null : page.next }
    },
  }
}
