import { z } from 'zod'
import { ChannelKind } from '../channel-kind.ts'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'

/**
 * Where a delivery stands. `dead`: it ended without success. `superseded`: a later message about the same incident tells
 * it as well.
 */
export const DeliveryState = z.enum(['pending', 'delivered', 'retrying', 'dead', 'superseded'])

const Moment = z.iso.datetime({ offset: true })

export const DeliveryQuery = ListQuery.extend({
  project_id: z.string().optional(),
  channel_id: z.string().optional(),
  alert_id: z.string().optional(),
  state: DeliveryState.optional(),
  from: Moment.optional().describe('Begun then or later'),
  to: Moment.optional().describe('Begun before'),
})

const ShownAttempt = z.object({
  attempt: z.int(),
  at: Timestamp,
  duration_ms: z.number(),
  outcome: z.enum(['delivered', 'failed']),
  status: z.int().nullable(),
  error: z.string().nullable(),
  response: z.string().nullable(),
})

/** One alert on its way to one channel, with every attempt. */
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
  attempts: z.array(ShownAttempt),
  next_attempt_at: Timestamp.nullable(),
  told_by: z
    .string()
    .nullable()
    .optional()
    .describe('The delivery that superseded it, or the digest that it was part of; null where it went alone'),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Delivery = z.infer<typeof Delivery>

/** Sends again what ended without success in a window. */
export const NewReplay = z
  .strictObject({
    channel_id: z.string(),
    from: Moment,
    to: Moment.describe('Itself no longer in the window'),
  })
  .refine(replay => Date.parse(replay.from) < Date.parse(replay.to), {
    message: 'The window ends before it begins',
    path: ['to'],
  })

export const ReplayQuery = ListQuery.extend({ project_id: z.string().optional(), channel_id: z.string().optional() })

/** A bulk replay and how far it is. */
export const Replay = z.object({
  replay_id: z.string(),
  project_id: z.string(),
  channel_id: z.string(),
  from: Timestamp,
  to: Timestamp,
  state: z.enum(['requested', 'running', 'done']).describe('requested: the notifier has not begun yet'),
  total: z.int().nullable().describe('Dead deliveries of the window when it began; null before'),
  requeued: z.int().describe('Deliveries sent again so far'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type Replay = z.infer<typeof Replay>
