import type { EventFeed, Posting } from './event-feed.ts'
import type { ObjectHistory, View } from './object-history.ts'

type Histories = Readonly<Record<string, ObjectHistory<never>>>

/** The objects of an account by type, and its events, at one time. */
export type AccountRecords<Objects, Event> = {
  readonly [Type in keyof Objects]: Objects[Type] extends View<infer T> ? View<T> : never
} & {
  events(): readonly Event[]
  /** The result of posting an event. */
  postingOf(event: Event): Posting
}

/** The objects and events of an account as they were at a time, in milliseconds since the epoch. */
export function recordsAsOf<Objects extends object, Event>(
  objects: Objects,
  feed: EventFeed<Event>,
  ms: number,
): AccountRecords<Objects, Event> {
  const views = Object.entries(objects as Histories).map(([type, history]) => [type, history.asOf(ms)])
  const events = { events: () => feed.asOf(ms), postingOf: feed.postingOf }
  return { ...Object.fromEntries(views), ...events }
}
