import { z } from 'zod'
import { Currency, Timestamp } from '../actions/operation.ts'
import { RefundedTwice } from '../actions/verdict.ts'
import { ActionKind, OutOfBand, ProviderKind } from '../providers.ts'
import { ProviderId } from '../values/provider-id.ts'
import { AccountFilter, TimeFilter } from './list.ts'
import { Label } from './project.ts'
import { SilenceSummary } from './silence.ts'

/**
 * A secret that authenticates a provider's notifications. It has at least 16 characters, because a shorter HMAC key could be guessed. It
 * is printable ASCII without spaces, because with a pasted newline every notification would be refused for no visible reason.
 */
export const InboundSecret = z
  .string()
  .min(16, 'Give at least 16 characters')
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces; a secret pasted with a line break has one')

const ApiBase = z
  .string()
  .max(2048)
  .describe(
    "Base URL of the provider's API, if not the public one; its host must be the provider's own or an allowed one",
  )
const ReadKey = z
  .string()
  .min(8)
  .max(255)
  .regex(/^[\x21-\x7e]+$/, 'Use printable ASCII without spaces')
  .describe("Read-only key for the provider's API")

/** A retry comes within hours; an equal refund a month later is a new decision. */
export const MAX_REFUNDED_TWICE_HOURS = 720
const refundedTwiceWithin = z
  .int()
  .min(1)
  .max(MAX_REFUNDED_TWICE_HOURS)
  .nullable()
  .optional()
  .describe(
    'Opens an incident REFUNDED_TWICE if two operations refund the same amount of a payment within so many hours. Null, the default, never opens one: equal partial refunds, e.g. of two returned items, may be meant',
  )

const burstAlarm = z
  .boolean()
  .optional()
  .describe(
    'Opens an incident UNEXPLAINED_BURST within seconds if unusually many refunds or cancellations are unexplained so far. True by default',
  )

/** Bounds the document of a connection. */
export const MAX_ACCOUNTS = 1_000

/** The setting of one connected account, in place of that of its connection. */
const AccountSetting = z.strictObject({ account: ProviderId, out_of_band: OutOfBand })
export type AccountSetting = z.infer<typeof AccountSetting>

/** The value of `out_of_band` for an action of this account: that of the account, or else that of its connection. */
export function outOfBandOf(
  { out_of_band, accounts }: { readonly out_of_band: OutOfBand; readonly accounts?: readonly AccountSetting[] },
  account: string | undefined,
): OutOfBand {
  return accounts?.find(setting => setting.account === account)?.out_of_band ?? out_of_band
}

const common = {
  name: Label,
  out_of_band: OutOfBand.default('auto'),
  refunded_twice_within_hours: refundedTwiceWithin,
  burst_alarm: burstAlarm,
  read_key: ReadKey.optional(),
  api_base: ApiBase.optional(),
  connected_at: z.iso
    .datetime({ offset: true })
    .optional()
    .describe(
      'Demo projects only: the connection is recorded as created at this time, at most 31 days ago, so that made-up earlier changes are judged',
    ),
}

const Site = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/, 'Give only the name of the site: acme, not acme.example.com')
  .describe("The provider's site; without it and a read key the connection holds its hints")

/** The body of POST /v1/projects/{id}/connections. */
export const NewConnection = z.discriminatedUnion('kind', [
  z.strictObject({ ...common, kind: z.literal('processor'), signing_secret: InboundSecret.optional() }),
  z.strictObject({ ...common, kind: z.literal('reseller'), destination_secret: InboundSecret }),
  z.strictObject({
    ...common,
    kind: z.literal('subscription'),
    site: Site.optional(),
  }),
])
export type NewConnection = z.infer<typeof NewConnection>

/** The body of PATCH /v1/projects/{id}/connections/{connection_id}. */
export const ConnectionPatch = z
  .strictObject({
    name: Label.optional(),
    out_of_band: OutOfBand.optional(),
    refunded_twice_within_hours: refundedTwiceWithin,
    burst_alarm: burstAlarm,
    accounts: z
      .array(z.strictObject({ account: ProviderId, out_of_band: OutOfBand.nullable() }))
      .max(MAX_ACCOUNTS)
      .optional()
      .describe(
        `Processor only: sets \`out_of_band\` of these connected accounts; null gives an account that of the connection again. Others stay as they are. At most ${MAX_ACCOUNTS} accounts have a setting`,
      ),
    read_key: ReadKey.nullable().optional().describe("A new read-only key for the provider's API; null removes it"),
    api_base: ApiBase.nullable().optional(),
    site: Site.optional().describe(
      'Subscription only; can be set while the connection has none, and not changed afterwards, because ids are unique within a site',
    ),
  })
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')
export type ConnectionPatch = z.infer<typeof ConnectionPatch>

/** The result of reading the provider's data in the last sweep. */
export const ConnectionReading = z.object({
  state: z
    .enum(['off', 'pending', 'healthy', 'failing'])
    .describe('off: no read key, or the setup is incomplete. pending: not yet read with this key'),
  last_run_at: Timestamp.nullable().describe('When the last sweep ended'),
  error: z.string().nullable().describe('Why the last sweep failed, and what to do'),
  failing_since: Timestamp.nullable(),
  next_run_at: Timestamp.nullable().describe(
    'When the next sweep is due; after failures the pauses grow to five minutes',
  ),
})
export type ConnectionReading = z.infer<typeof ConnectionReading>

/** A connection as the API answers it. */
export const Connection = z.object({
  connection_id: z.string(),
  project_id: z.string(),
  kind: ProviderKind,
  name: z.string(),
  out_of_band: OutOfBand,
  refunded_twice_within_hours: z
    .int()
    .nullable()
    .describe('Within how many hours a second refund of the same amount opens REFUNDED_TWICE; null if it never does'),
  accounts: z.array(AccountSetting).describe('The connected accounts with an `out_of_band` of their own, by their ids'),
  burst_alarm: z.boolean().describe('Whether unusually many unexplained actions open UNEXPLAINED_BURST'),
  status: z.enum(['active', 'needs_setup', 'deleted']),
  inbound_url: z.string().describe('The URL for the notifications of the provider'),
  site: z.string().nullable(),
  api_base: z.string().nullable(),
  has_read_key: z.boolean(),
  reading: ConnectionReading,
  silence: SilenceSummary.nullable().describe('While the connection is silenced: until when, by whom and why'),
  secret_fingerprints: z.array(z.string()),
  warnings: z
    .array(z.object({ field: z.string(), message: z.string() }))
    .describe('Settings that work and should be changed, with the remedy'),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Connection = z.infer<typeof Connection>

/** The answer to creating a connection and to rotating its secret. Only these answers show the secret. */
export const CreatedConnection = Connection.extend({
  signing_secret: z.string().optional().describe('Processor: shown once'),
  username: z.string().optional().describe('Subscription: always `service`'),
  password: z.string().optional().describe('Subscription: shown once'),
})
export type CreatedConnection = z.infer<typeof CreatedConnection>

/** How long the previous secrets stay valid, in seconds. The maximum limits how long a leaked secret can be used. */
const DEFAULT_OVERLAP_S = 86_400
const MAX_OVERLAP_S = 7 * 86_400

/** The body of POST /v1/projects/{id}/connections/{connection_id}/rotate-secret. */
export const SecretRotation = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_S)
      .optional()
      .describe('How long the previous secrets stay valid; 24 hours by default. Not together with overlap_hours'),
    overlap_hours: z
      .int()
      .min(0)
      .max(MAX_OVERLAP_S / 3_600)
      .optional()
      .describe('In place of overlap_seconds, not together with it'),
    destination_secret: InboundSecret.optional().describe('Reseller: the new secret of its notification destination'),
    signing_secret: InboundSecret.optional().describe(
      'Processor: your own new secret; if omitted, a secret is generated',
    ),
  })
  .refine(({ overlap_seconds, overlap_hours }) => overlap_seconds === undefined || overlap_hours === undefined, {
    path: ['overlap_hours'],
    message: 'Give either overlap_seconds or overlap_hours',
  })
export type SecretRotation = z.infer<typeof SecretRotation>

/** The overlap of a rotation in seconds. */
export function overlapSecondsOf({ overlap_seconds, overlap_hours }: SecretRotation): number {
  return overlap_seconds ?? (overlap_hours === undefined ? DEFAULT_OVERLAP_S : overlap_hours * 3_600)
}

/** The query of GET /v1/projects/{id}/connections/{connection_id}/dry-run. */
export const SettingDryRunQuery = z.object({
  account: AccountFilter.describe(
    'Tries the setting for this connected account. Default: for all accounts without a setting of their own',
  ),
  out_of_band: OutOfBand.optional().describe('The setting to try. Default: that of the connection'),
  refunded_twice_within_hours: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_REFUNDED_TWICE_HOURS)
    .optional()
    .describe('The hours to try for REFUNDED_TWICE. Default: those of the connection; if it has none, none is counted'),
  from: TimeFilter.optional().describe('Default: 7 days before `to`'),
  to: TimeFilter.optional().describe('Excluded. Default: now'),
})

const AlertCount = z.object({
  count: z.int(),
  sums: z
    .array(z.object({ currency: Currency, count: z.int(), amount: z.int().describe('Minor units') }))
    .describe('Money per currency. Refunds that failed or were taken back are left out'),
})

/** An action that nothing explained at its second look. */
const TriedAction = z.object({
  action_id: z.string(),
  kind: ActionKind,
  subject: z.string(),
  provider_ref: z.string().nullable(),
  amount: z.int().nullable().describe('Minor units'),
  currency: Currency.nullable(),
  first_seen_at: Timestamp,
  looked_at: Timestamp.describe('When the second look found no explanation'),
  alerted: z.boolean().describe('True if it alerted, by the settings of then'),
  would_alert: z.boolean().describe('True if it would have alerted by the tried setting'),
})

/** A refund that an operation made again. */
const TriedRepeat = z.object({
  action_id: z.string(),
  subject: z.string(),
  amount: z.int().describe('Minor units'),
  currency: Currency,
  provider_created_at: Timestamp,
  ...RefundedTwice.shape,
})

/** The answer of GET /v1/projects/{id}/connections/{connection_id}/dry-run. */
export const SettingDryRun = z.object({
  project_id: z.string(),
  connection_id: z.string(),
  from: Timestamp,
  to: Timestamp,
  out_of_band: OutOfBand,
  alerted: AlertCount.describe('What alerted, by the settings of then'),
  would_alert: AlertCount.describe('What would have alerted by the tried setting'),
  unexplained: z.int().describe('Actions that nothing explained at a second look in the window'),
  is_complete: z.boolean().describe('False if only a part of the window was counted; give a shorter one'),
  actions: z.array(TriedAction).describe('The newest 500 of them'),
  refunded_twice: z
    .object({
      within_hours: z.int(),
      would_alert: AlertCount.describe('Second refunds first seen in the window that would have opened REFUNDED_TWICE'),
      refunds: z.array(TriedRepeat).describe('The newest 500 of them'),
    })
    .nullable()
    .describe('Null if neither the query nor the connection has hours'),
})
export type SettingDryRun = z.infer<typeof SettingDryRun>
