import type { InboxDocument, InboxReplayDocument } from '@backstop/contracts'
import { PROJECT, T0 } from '@backstop/verdict/test'
import type { InboxEntry } from '../src/inbox/inbox-store.ts'

/** The entry of an event of the card processor's connection con_a that was received and recorded at T0. */
export function inboxEntry(
  eventId: string,
  more: Partial<InboxDocument> = {},
  body: string | null = JSON.stringify({ id: eventId }),
): InboxEntry {
  const connection_id = more.connection_id ?? 'con_a'
  return {
    document: {
      _id: `${connection_id}/${eventId}`,
      project_id: PROJECT,
      connection_id,
      provider: 'processor',
      event_id: eventId,
      event_type: 'refund.created',
      outcome: 'recorded',
      reason: 'The event was recorded',
      action_ids: [],
      received_at: new Date(T0),
      processed_at: new Date(T0),
      ...more,
    },
    body,
  }
}

/** A running replay of the events that con_a received in 100 ms from T0. */
export function inboxReplay(more: Partial<InboxReplayDocument> = {}): InboxReplayDocument {
  return {
    _id: 'rpl_1',
    project_id: PROJECT,
    connection_id: 'con_a',
    event_ids: null,
    outcome: null,
    from: new Date(T0),
    to: new Date(T0 + 100),
    state: 'running',
    total: 3,
    replayed: 0,
    skipped_erased: 0,
    skipped_objects: 0,
    requested_at: new Date(T0),
    cursor: null,
    next_page_at: new Date(T0),
    finished_at: null,
    ...more,
  }
}
