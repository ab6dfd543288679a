import { type ListedEvent, PROVIDERS } from '@backstop/providers'
import type { KeptConnection } from '../connections/connection-reader.ts'
import type { Inbox } from '../inbox/inbox-store.ts'

/** The clock of a provider may be ahead of ours by this much, in milliseconds. */
const CLOCK_SKEW_MS = 60_000

/**
 * The ids of the events that arrived. A thin event has an id of its own, so after it arrived every earlier event counts as
 * arrived.
 */
export async function findArrived(
  connection: KeptConnection,
  events: readonly ListedEvent[],
  inbox: Pick<Inbox, 'known' | 'newestOf'>,
): Promise<ReadonlySet<string>> {
  const inboxId = ({ eventId }: ListedEvent) => `${connection._id}/${eventId}`
  const known = await inbox.known(events.map(inboxId))
  const unknown = events.filter(event => !known.has(inboxId(event)))
  const { thinEvents } = PROVIDERS[connection.kind]
  const since = Math.min(...unknown.map(event => event.createdAt)) - CLOCK_SKEW_MS
  const newest =
    thinEvents === undefined || unknown.length === 0 ? null : await inbox.newestOf(connection._id, thinEvents, since)
  const hasArrived = (event: ListedEvent) =>
    known.has(inboxId(event)) || event.createdAt - CLOCK_SKEW_MS <= (newest ?? 0)
  return new Set(events.filter(hasArrived).map(event => event.eventId))
}
