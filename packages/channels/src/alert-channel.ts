import { AlertEvent, Label, ListQuery, Timestamp } from '@backstop/contracts'
import { z } from 'zod'
import { ChannelConfigPatch, NewChannelConfig, ShownChannelConfig } from './forms.ts'
import { SharedSecret } from './webhook/form.ts'

export const NewAlertChannel = z.strictObject({
  project_id: z.string(),
  name: Label,
  events: z
    .array(AlertEvent)
    .min(1)
    .max(20)
    .refine(events => new Set(events).size === events.length, 'Name each event once'),
  config: NewChannelConfig,
})
export type NewAlertChannel = z.infer<typeof NewAlertChannel>

/** How a channel does. Tests of it leave no mark here. */
export const ChannelHealth = z.object({
  state: z.enum(['unused', 'healthy', 'failing', 'disabled']),
  /** Delivered attempts of all attempts in the last 7 days, 0 to 1; null without any. */
  success_rate: z.number().min(0).max(1).nullable(),
  last_success_at: Timestamp.nullable(),
  last_failure_at: Timestamp.nullable(),
  last_error: z.string().nullable().describe('In words a person can act on'),
  failing_since: Timestamp.nullable().describe('Five days of nothing but failures disable the channel'),
  disabled_at: Timestamp.nullable(),
  disabled_reason: z.string().nullable(),
})

export type ChannelHealth = z.infer<typeof ChannelHealth>

export const AlertChannel = z.object({
  channel_id: z.string(),
  id: z.string().describe('The same as `channel_id`, and stays: channels had this name for it first'),
  project_id: z.string(),
  name: z.string(),
  events: z.array(AlertEvent),
  config: ShownChannelConfig,
  enabled: z.boolean().describe('Whether alerts go there: switched on, and not disabled by its failures'),
  health: ChannelHealth,
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type AlertChannel = z.infer<typeof AlertChannel>

export const AlertChannelPatch = z
  .strictObject({
    name: Label.optional(),
    events: NewAlertChannel.shape.events.optional(),
    config: ChannelConfigPatch.optional(),
    enabled: z.boolean().optional().describe('true also re-enables a channel that its failures disabled'),
  })
  .refine(patch => Object.keys(patch).length > 0, 'Name what is to change')
export type AlertChannelPatch = z.infer<typeof AlertChannelPatch>

/** Gives a webhook channel another secret. Deliveries carry both signatures until the overlap ends. */
export const ChannelSecretRotation = z.strictObject({
  secret: SharedSecret.optional().describe('An own new secret, base64 behind `whsec_`; one is made without it'),
  overlap_hours: z
    .int()
    .min(0)
    .max(168)
    .default(24)
    .describe('How long deliveries are signed with the secret of before as well'),
})

/** The answer to a rotation: the only time that the new secret is shown. */
export const RotatedAlertChannel = AlertChannel.extend({
  secret: z.string().optional().describe('The new secret: shown once, and absent from a repeated answer'),
})

export const ChannelTestResult = z.object({
  delivered: z.boolean(),
  status: z.int().nullable().describe('HTTP status or SMTP reply code; null without an answer'),
  latency_ms: z.int().nullable(),
  error: z.string().optional(),
  response: z.string().nullable().describe('The first KiB of what the receiver answered'),
})
export type ChannelTestResult = z.infer<typeof ChannelTestResult>

export const AlertChannelQuery = ListQuery.extend({ project_id: z.string().optional() })
