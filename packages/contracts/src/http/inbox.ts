import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { InboxOutcome } from '../inbox-outcome.ts'
import { ProviderKind } from '../providers.ts'
import { IdFilter, ListQuery } from './list.ts'

/** The query of GET /v1/inbox. */
export const InboxQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  connection_id: IdFilter.optional(),
  outcome: InboxOutcome.optional(),
  replay_id: IdFilter.optional().describe('Only notifications that this replay decided again'),
})

/** An authentic notification with its outcome, or an object of a provider's answer that could not be used. */
export const InboxEntry = z.object({
  /** `<connection_id>/<event_id>`, because the event ids of providers are unique only within a connection. */
  inbox_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  provider: ProviderKind,
  event_id: z.string(),
  event_type: z.string(),
  outcome: InboxOutcome,
  reason: z.string(),
  action_ids: z.array(z.string()),
  received_at: Timestamp,
  processed_at: Timestamp,
  replay_id: z
    .string()
    .nullable()
    .describe('The last replay that decided the notification again; null if there was none'),
})
export type InboxEntry = z.infer<typeof InboxEntry>

/** An inbox entry with the body of its notification. */
export const InboxEntryWithBody = InboxEntry.extend({
  body: z.unknown().describe('The body as the provider sent it; null after its retention of 14 days'),
})
