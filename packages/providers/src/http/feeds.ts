import type { ReadObject } from '@backstop/contracts'
import type { ListedEvent } from '../read-back.ts'
import type { ApiClient, Budget } from './api-client.ts'
import { type Failed, failed } from './failure.ts'
import { type List, type ProviderObject, readPage } from './objects.ts'
import type { Feed } from './walk.ts'

/** A list that is walked through, newest first. */
export interface FeedList {
  /** Stays the same for good: stored cursors hold it. */
  readonly name: string
  /** @param from milliseconds since the epoch: the provider need not show what is older */
  list(from: number): List
  /**
   * When an item took its place in the list, in milliseconds since the epoch, for lists that cannot be asked for a time: the
   * walk ends where one is too old. NaN is malformed.
   */
  timeOf?(item: ProviderObject): number
  /** What of the items is to be told. May read more of the provider. */
  objects(items: readonly ProviderObject[], from: number): Promise<readonly ReadObject[] | Failed>
  /** The event that an item is; undefined when it lacks what an event has. For lists of events alone. */
  eventOf?(item: ProviderObject): ListedEvent | undefined
}

/** A feed over a list of the provider's API. */
export function feedOf(client: ApiClient, budget: Budget, { name, list, timeOf, objects, eventOf }: FeedList): Feed {
  const malformed = (what: string) => failed('answer_malformed', client.dialect.name, `${what} in ${name}`)
  return {
    name,
    async read(from, place) {
      const page = await readPage(client, list(from), place, budget)
      // Only a place in the list can be missing, as lists themselves exist.
      if (page.kind === 'missing') return failed('question_refused', client.dialect.name, `no such place in ${name}`)
      if (page.kind === 'failed') return page
      const times = timeOf === undefined ? [] : page.items.map(timeOf)
      if (times.some(Number.isNaN)) return malformed('no time')
      const items = page.items.filter((_, index) => (times[index] ?? from) >= from)
      const events = eventOf === undefined ? [] : items.map(eventOf)
      if (!events.every(event => event !== undefined)) return malformed('no event')
      const told = await objects(items, from)
      if ('kind' in told) return told
      const next = items.length < page.items.length ? null : page.next
      return { kind: 'page', objects: told, events, next }
    },
  }
}
