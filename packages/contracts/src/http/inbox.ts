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

const WindowTime = z.iso.datetime({ offset: true })

/** The body of POST /v1/inbox-replays. */
export const NewInboxReplay = z
  .strictObject({
    connection_id: z.string(),
    from: WindowTime.describe('Only notifications that were received at this time or later'),
    to: WindowTime.describe('End of the window, exclusive'),
    outcome: InboxOutcome.optional().describe('Only notifications with this outcome'),
  })
  .refine(replay => Date.parse(replay.from) < Date.parse(replay.to), {
    message: 'Give a time after from',
    path: ['to'],
  })

/** A replay of notifications and its progress. */
export const InboxReplay = z.object({
  replay_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  event_ids: z.array(z.string()).nullable().describe('The replayed events; null for a window'),
  from: Timestamp.nullable(),
  to: Timestamp.nullable(),
  outcome: InboxOutcome.nullable(),
  state: z.enum(['requested', 'running', 'done']).describe('requested: the reconciler has not started the replay yet'),
  total: z.int().nullable().describe('Selected notifications when the replay started; null before'),
  replayed: z.int().describe('Notifications sent through the decision again so far'),
  skipped: z.object({
    body_erased: z.int().describe('Notifications whose body is not kept any more'),
    not_a_notification: z.int().describe("Objects of a provider's answer, which the next sweep reads again"),
  }),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type InboxReplay = z.infer<typeof InboxReplay>
