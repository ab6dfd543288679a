import { ChannelKind, type StoredChannel } from '@backstop/contracts'
import { z } from 'zod'
import { discordForm } from './discord/form.ts'
import { emailForm } from './email/form.ts'
import type { ResealField, SealField, ServiceHosts } from './form.ts'
import { pagerDutyForm } from './pagerduty/form.ts'
import { slackForm } from './slack/form.ts'
import { teamsForm } from './teams/form.ts'
import { webhookForm } from './webhook/form.ts'

export type { DiscordConfig } from './discord/form.ts'
export type { EmailConfig } from './email/form.ts'
export { isServiceHost } from './form.ts'
export type { PagerDutyConfig } from './pagerduty/form.ts'
export type { SlackConfig } from './slack/form.ts'
export type { TeamsConfig } from './teams/form.ts'
export type { WebhookConfig } from './webhook/form.ts'
export type { ResealField, SealField }

/** The description of fields that a change may repeat and not change. */
export const READ_ONLY = 'Read-only: may be sent back unchanged'

/** The forms of all channel kinds. */
const CHANNEL_FORMS = {
  slack: slackForm,
  email: emailForm,
  webhook: webhookForm,
  pagerduty: pagerDutyForm,
  teams: teamsForm,
  discord: discordForm,
} satisfies Record<ChannelKind, unknown>

type Forms = typeof CHANNEL_FORMS
type Form = Forms[ChannelKind]
type NonEmpty<T> = [T, ...T[]]
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The configuration of a channel in the database, with encrypted secrets. */
export type ChannelConfig = ReturnType<Form['seal']>
export type ChannelDocument = StoredChannel<ChannelConfig>

const forms = Object.values(CHANNEL_FORMS)

export const NewChannelConfig = z.discriminatedUnion('kind', forms.map(form => form.input) as NonEmpty<Form['input']>)
export type NewChannelConfig = z.infer<typeof NewChannelConfig>

/** The configuration of a channel in answers; secrets appear as fingerprints. */
export const ShownChannelConfig = z.discriminatedUnion('kind', forms.map(form => form.shown) as NonEmpty<Form['shown']>)
export type ShownChannelConfig = z.infer<typeof ShownChannelConfig>

/**
 * The changeable fields of all kinds. A request does not name the kind, so the kind of the stored channel decides which
 * fields are valid.
 */
const ChannelConfigChanges = z.strictObject(mergePatches())
export type ChannelConfigPatch = z.infer<typeof ChannelConfigChanges>

/**
 * The configuration in a request that changes a channel: the changed fields. The read-only fields of the answer may be sent back
 * unchanged, so that a client can send the whole document that it read.
 */
export const ChannelConfigPatch = z
  // A cast, because the read-only fields are not part of the change (splitConfigPatch).
  .strictObject({ ...mergePatches(), ...readOnlyConfigFields() } as ReturnType<typeof mergePatches>)
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')

/** The read-only fields that are not compared, because they change while a client has the document. */
const PASSING_FIELDS: readonly string[] = ['previous_secret_expires_at']

/**
 * Separates the changes from the read-only fields that a client sent back.
 * @returns `fixed`: the read-only fields that must have the values of the answer
 */
export function splitConfigPatch(sent: ChannelConfigPatch): {
  changes: ChannelConfigPatch
  fixed: Record<string, unknown>
} {
  const isChange = ([field]: [string, unknown]) => field in ChannelConfigChanges.shape
  const fields = Object.entries(sent)
  return {
    changes: Object.fromEntries(fields.filter(isChange)),
    fixed: Object.fromEntries(fields.filter(one => !isChange(one) && !PASSING_FIELDS.includes(one[0]))),
  }
}

/** The fields of the answers of all kinds that no request can change. */
function readOnlyConfigFields(): Record<string, z.ZodType> {
  const patched = mergePatches() as Record<string, unknown>
  const fields: [string, z.ZodType][] = forms.flatMap(({ shown }) => Object.entries<z.ZodType>(shown.shape))
  const readOnly = fields.filter(([field]) => !(field in patched))
  // Each form has its own literal as kind.
  const shapes = { ...Object.fromEntries(readOnly), kind: ChannelKind }
  return Object.fromEntries(
    Object.entries(shapes).map(([field, schema]) => [field, schema.optional().describe(READ_ONLY)]),
  )
}

function mergePatches(): Intersection<Form['patch']> {
  const merged: Record<string, unknown> = {}
  for (const [field, schema] of forms.flatMap(({ patch }) => Object.entries(patch))) {
    if (field in merged && merged[field] !== schema) throw new Error(`Two kinds give ${field} different schemas`)
    merged[field] = schema
  }
  return merged as Intersection<Form['patch']>
}

/** The URLs in a configuration, or in a change of one, with their fields. */
export function urlsOf(kind: ChannelKind, config: ChannelConfigPatch): { field: string; url: string }[] {
  const fields: readonly string[] = CHANNEL_FORMS[kind].urls
  return Object.entries(config).flatMap(([field, url]) =>
    fields.includes(field) && typeof url === 'string' ? [{ field, url }] : [],
  )
}

/** True if the change sets a new receiver. The failures of the previous receiver say nothing about a new one. */
export function changesTarget(kind: ChannelKind, patch: ChannelConfigPatch): boolean {
  const target: readonly string[] = CHANNEL_FORMS[kind].target
  return Object.keys(patch).some(field => target.includes(field))
}

/** The service's own hosts; undefined for a kind that sends to any public host. */
export function serviceHostsOf(kind: ChannelKind): ServiceHosts | undefined {
  return CHANNEL_FORMS[kind].hosts
}

/** The names of the changeable fields of a channel kind. */
export function patchFieldsOf(kind: ChannelKind): readonly string[] {
  return Object.keys(CHANNEL_FORMS[kind].patch)
}

export function sealConfig(config: NewChannelConfig, seal: SealField): ChannelConfig {
  return formOf(config.kind).seal(config, seal)
}

/** @param patch fields of the channel's kind only */
export function changeConfig(config: ChannelConfig, patch: ChannelConfigPatch, seal: SealField): ChannelConfig {
  return formOf(config.kind).change(config, patch, seal)
}

/** Encrypts every secret of a stored configuration again; an empty value, as in a deleted channel, is no secret. */
export function resealConfig(config: ChannelConfig, reseal: ResealField): ChannelConfig {
  return formOf(config.kind).reseal(config, reseal)
}

export function showConfig(config: ChannelConfig, now: Date): ShownChannelConfig {
  return formOf(config.kind).show(config, now.getTime())
}

/** The configuration of a deleted channel, without the fields that are needed to send a message. */
export function eraseConfig(config: ChannelConfig): ChannelConfig {
  return formOf(config.kind).erase(config)
}

/**
 * A form that accepts the configuration of any kind, because TypeScript cannot infer that the lookup by kind returns
 * the matching form.
 */
interface AnyForm {
  seal(input: NewChannelConfig, seal: SealField): ChannelConfig
  change(stored: ChannelConfig, patch: ChannelConfigPatch, seal: SealField): ChannelConfig
  reseal(stored: ChannelConfig, reseal: ResealField): ChannelConfig
  show(stored: ChannelConfig, nowMs: number): ShownChannelConfig
  erase(stored: ChannelConfig): ChannelConfig
}

function formOf(kind: ChannelKind): AnyForm {
  return CHANNEL_FORMS[kind] as unknown as AnyForm
}
