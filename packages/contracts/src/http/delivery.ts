import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'
import { ChannelKind } from '../channels/channel-kind.ts'
import { AlertEvent } from '../messages/alert.ts'
import { SuppressionReason } from '../messages/command.ts'
import { BooleanFilter, IdFilter, ListQuery, TimeFilter } from './list.ts'

/**
 * The state of a delivery. dead: it ended without success. superseded: it was not sent, because a later message about the same incident or
 * storm contains the same news.
 */
export const DeliveryState = z.enum(['pending', 'delivered', 'retrying', 'dead', 'superseded'])

/** The query of GET /v1/deliveries. */
export const DeliveryQuery = ListQuery.extend({
  project_id: IdFilter.optional(),
  channel_id: IdFilter.optional(),
  alert_id: IdFilter.optional(),
  incident_id: IdFilter.optional().describe('Only deliveries of alerts about this incident'),
  storm_id: IdFilter.optional().describe('Only deliveries of reports about this storm'),
  event: AlertEvent.optional(),
  state: DeliveryState.optional(),
  test: BooleanFilter.optional().describe('true: only tests of channels; otherwise only deliveries of alerts'),
  from: TimeFilter.optional().describe('Only deliveries that were created at this time or later'),
  to: TimeFilter.optional().describe('Only deliveries that were created before this time'),
})

const Attempt = z.object({
  attempt: z.int(),
  at: Timestamp,
  duration_ms: z.number(),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

/** One delivery of an alert about an incident or a storm, with each attempt. */
export const AlertDelivery = z.object({
  delivery_id: z.string(),
  channel_id: z.string(),
  alert_id: z.string(),
  event: z.string(),
  state: DeliveryState,
  reason: z.string(),
  attempts: z.array(Attempt),
})
export type AlertDelivery = z.infer<typeof AlertDelivery>

/** The delivery of one alert to one channel, with every attempt. */
export const Delivery = z.object({
  delivery_id: z.string(),
  project_id: z.string(),
  channel_id: z.string(),
  channel_kind: ChannelKind,
  alert_id: z.string(),
  event: z.string(),
  test: z.boolean(),
  state: DeliveryState,
  reason: z.string(),
  about: z
    .object({
      title: z.string().describe('The first line of the message'),
      path: z.string().nullable().describe('The page in the console, below PUBLIC_URL; null if there is none'),
    })
    .describe('What the message is about'),
  attempts: z.array(Attempt.extend({ response: z.string().nullable() })),
  next_attempt_at: Timestamp.nullable(),
  held_until: Timestamp.nullable().describe(
    'The attempt waits until this time, because the channel is paused or has quiet hours; `reason` says which. Null if the delivery is not held',
  ),
  told_by: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The delivery that superseded this delivery, or the digest that contained it; null if it was sent separately',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Delivery = z.infer<typeof Delivery>

/** The body of POST /v1/replays. */
export const NewReplay = z
  .strictObject({
    channel_id: z.string(),
    from: TimeFilter,
    to: TimeFilter.describe('End of the window, exclusive, after `from`'),
  })
  .refine(replay => Date.parse(replay.from) < Date.parse(replay.to), {
    message: 'Give a time after from',
    path: ['to'],
  })

/** The query of GET /v1/replays. */
export const ReplayQuery = ListQuery.extend({ project_id: IdFilter.optional(), channel_id: IdFilter.optional() })

/** A bulk replay and its progress. */
export const Replay = z.object({
  replay_id: z.string(),
  project_id: z.string(),
  channel_id: z.string(),
  from: Timestamp,
  to: Timestamp,
  state: z.enum(['requested', 'running', 'done']).describe('requested: the notifier has not started the replay yet'),
  total: z.int().nullable().describe('Dead and retrying deliveries in the window when the replay started; null before'),
  requeued: z.int().describe('Deliveries sent again so far'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type Replay = z.infer<typeof Replay>

/** The body of POST /v1/suppressions. */
export const NewSuppression = z.strictObject({ project_id: z.string(), address: z.email().max(254) })

/** An address that gets no more mail from a project. */
export const Suppression = z.object({
  project_id: z.string(),
  address: z.string(),
  reason: SuppressionReason,
  detail: z.string().nullable(),
  suppressed_at: Timestamp,
})
export type Suppression = z.infer<typeof Suppression>
