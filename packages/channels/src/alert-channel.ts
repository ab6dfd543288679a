import { AlertEvent, ChannelFilter, IdFilter, Label, ListQuery, QuietHours, Timestamp } from '@backstop/contracts'
import { z } from 'zod'
import { ChannelConfigPatch, NewChannelConfig, READ_ONLY, ShownChannelConfig, splitConfigPatch } from './forms.ts'
import { SharedSecret } from './webhook/form.ts'

const SHOWS_PERSONAL_DATA =
  "Whether messages contain personal data: the name and e-mail address of customers, the user who made an action, a reason that a person wrote, and all other values of the provider that contain an e-mail address. Without it these are null or '(hidden)', and messages contain only the provider's id of the customer"

const FILTER = 'Limits the alerts of the channel; null: every alert of its events'

const QUIET_HOURS =
  'slack and email: hours in which deliveries are held, to be sent as one digest at their end; null: none'

export const NOTHING_TO_CHANGE = 'Give at least one field to change'

const IGNORED = 'Read-only: ignored'

export const NewAlertChannel = z.strictObject({
  project_id: z.string(),
  name: Label,
  events: z
    .array(AlertEvent)
    .min(1)
    .max(20)
    .refine(events => new Set(events).size === events.length, 'Name each event once'),
  config: NewChannelConfig,
  shows_personal_data: z.boolean().default(false).describe(SHOWS_PERSONAL_DATA),
  filter: ChannelFilter.nullable().default(null).describe(FILTER),
  quiet_hours: QuietHours.nullable().default(null).describe(QUIET_HOURS),
})
export type NewAlertChannel = z.infer<typeof NewAlertChannel>

/** The results of a channel's deliveries. Test messages are excluded. */
export const ChannelHealth = z.object({
  state: z.enum(['unused', 'healthy', 'failing', 'disabled']),
  /** Share of successful attempts in the last 7 days, 0 to 1; null if there were no attempts. */
  success_rate: z.number().min(0).max(1).nullable(),
  last_success_at: Timestamp.nullable(),
  last_failure_at: Timestamp.nullable(),
  last_error: z.string().nullable().describe('What failed, and what to do about it'),
  failing_since: Timestamp.nullable().describe(
    'Since when nothing was delivered. After 15 minutes an incident opens; five days of failures of the receiver disable the channel',
  ),
  held_until: Timestamp.nullable().describe(
    'While the channel is paused: when it is tried again. Until then retries wait, and so do most first attempts',
  ),
  held_reason: z.string().nullable().describe('Why the channel is paused'),
  disabled_at: Timestamp.nullable(),
  disabled_reason: z.string().nullable(),
  warning: z.string().nullable().describe('Why the channel gets fewer alerts than it seems, and what to do about it'),
})

export type ChannelHealth = z.infer<typeof ChannelHealth>

export const AlertChannel = z.object({
  channel_id: z.string(),
  id: z.string().describe('The same as `channel_id`, by its older name'),
  project_id: z.string(),
  name: z.string(),
  events: z.array(AlertEvent),
  config: ShownChannelConfig,
  shows_personal_data: z.boolean().describe(SHOWS_PERSONAL_DATA),
  filter: ChannelFilter.nullable().describe(FILTER),
  quiet_hours: QuietHours.nullable().describe(QUIET_HOURS),
  enabled: z.boolean().describe('Whether alerts go there: it is switched on, and its failures have not disabled it'),
  health: ChannelHealth,
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type AlertChannel = z.infer<typeof AlertChannel>

/** Read-only fields that a change may repeat with the value of the answer. */
const FIXED_FIELDS = {
  channel_id: z.string().optional().describe(READ_ONLY),
  id: z.string().optional().describe(READ_ONLY),
  project_id: z.string().optional().describe(READ_ONLY),
}

/** Read-only fields that are ignored in a change, because they change while a client has the document. */
const PASSING_FIELDS = {
  health: z.unknown().optional().describe(IGNORED),
  version: z.int().optional().describe(`${IGNORED}; If-Match refuses a change of another version`),
  created_at: z.string().optional().describe(IGNORED),
  updated_at: z.string().optional().describe(IGNORED),
}

const PatchFields = z.strictObject({
  name: Label.optional(),
  events: NewAlertChannel.shape.events.optional(),
  config: ChannelConfigPatch.optional(),
  shows_personal_data: z.boolean().optional().describe('Applies to messages that are not sent yet, too'),
  filter: ChannelFilter.nullable().optional().describe('Replaces the whole filter; null removes it'),
  quiet_hours: QuietHours.nullable().optional().describe('Replaces the quiet hours; null removes them'),
  enabled: z.boolean().optional().describe('true also enables a channel again that its failures disabled'),
  ...FIXED_FIELDS,
  ...PASSING_FIELDS,
})
export type AlertChannelPatch = z.infer<typeof PatchFields>

export const AlertChannelPatch = PatchFields.refine(patch => {
  const split = splitPatch(patch)
  return changesAnything(split) || split.unchanged.size > 0
}, NOTHING_TO_CHANGE)

/** A patch without the read-only fields that a client sent back. */
export interface SplitPatch {
  readonly fields: Omit<AlertChannelPatch, keyof typeof FIXED_FIELDS | keyof typeof PASSING_FIELDS | 'config'>
  /** Undefined if the configuration does not change. */
  readonly config: ChannelConfigPatch | undefined
  /** The read-only fields that must have the values of the answer, by their path in the document. */
  readonly unchanged: ReadonlyMap<string, unknown>
}

/** Separates the changes of a patch from the read-only fields that a client sent back. */
export function splitPatch({ config = {}, ...sent }: AlertChannelPatch): SplitPatch {
  const { changes, fixed } = splitConfigPatch(config)
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  return {
    fields: Object.fromEntries(given.filter(([field]) => !(field in FIXED_FIELDS) && !(field in PASSING_FIELDS))),
    config: Object.keys(changes).length === 0 ? undefined : changes,
    unchanged: new Map<string, unknown>([
      ...given.filter(([field]) => field in FIXED_FIELDS),
      ...Object.entries(fixed).map(([field, value]) => [`config.${field}`, value] as const),
    ]),
  }
}

/** False if a client sent only read-only fields. */
export function changesAnything({ fields, config }: SplitPatch): boolean {
  return Object.keys(fields).length > 0 || config !== undefined
}

/**
 * Replaces the secret of a webhook channel. Until the overlap ends, deliveries are signed with the new and the previous
 * secret.
 */
export const ChannelSecretRotation = z.strictObject({
  secret: SharedSecret.optional().describe('The new secret, base64 after `whsec_`; generated if left out'),
  overlap_hours: z
    .int()
    .min(0)
    .max(168)
    .default(24)
    .describe('How long deliveries are also signed with the previous secret'),
})

/** The answer to a rotation. No other answer contains the new secret. */
export const RotatedAlertChannel = AlertChannel.extend({
  secret: z.string().optional().describe('The new secret: shown once, and absent if the request is repeated'),
})

export const ChannelTestResult = z.object({
  delivered: z.boolean(),
  status: z.int().nullable().describe('HTTP status or SMTP reply code; null without an answer'),
  latency_ms: z.int().nullable(),
  error: z.string().optional(),
  response: z.string().nullable().describe("The first KiB of the receiver's answer"),
})
export type ChannelTestResult = z.infer<typeof ChannelTestResult>

export const AlertChannelQuery = ListQuery.extend({ project_id: IdFilter.optional() })
