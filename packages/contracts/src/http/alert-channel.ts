import { z } from 'zod'
import { AlertEvent } from '../messages/alert.ts'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'
import { Label } from './project.ts'

const Url = z.string().min(1).max(2048)

export const NewChannelConfig = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('slack'),
    webhook_url: Url.describe('URL of an incoming webhook; never shown again'),
  }),
  z.strictObject({ kind: z.literal('email'), to: z.array(z.email().max(254)).min(1).max(50) }),
  z.strictObject({
    kind: z.literal('webhook'),
    url: Url,
    secret: z.string().min(1).max(255).optional().describe('Signs each delivery; never shown again'),
  }),
])
export type NewChannelConfig = z.infer<typeof NewChannelConfig>

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

/** A channel as it is shown: secrets appear only as fingerprints. */
export const ShownChannelConfig = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('slack'), webhook_url_fingerprint: z.string() }),
  z.object({ kind: z.literal('email'), to: z.array(z.string()) }),
  z.object({ kind: z.literal('webhook'), url: z.string(), secret_fingerprint: z.string().nullable() }),
])

export const AlertChannel = z.object({
  id: z.string(),
  project_id: z.string(),
  name: z.string(),
  events: z.array(AlertEvent),
  config: ShownChannelConfig,
  enabled: z.boolean(),
  /** Set when the receiver's own answer disabled the channel (410, for one). */
  disabled_reason: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type AlertChannel = z.infer<typeof AlertChannel>

export const ChannelTestResult = z.object({
  delivered: z.boolean(),
  status: z.int().nullable().describe('HTTP status or SMTP reply code; null without an answer'),
  latency_ms: z.int().nullable(),
  error: z.string().optional(),
})
export type ChannelTestResult = z.infer<typeof ChannelTestResult>

export const AlertChannelQuery = ListQuery.extend({ project_id: z.string().optional() })
