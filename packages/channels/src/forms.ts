import type { ChannelKind, StoredChannel } from '@backstop/contracts'
import { z } from 'zod'
import { emailForm } from './email/form.ts'
import type { SealField } from './form.ts'
import { slackForm } from './slack/form.ts'
import { webhookForm } from './webhook/form.ts'

export type { EmailConfig } from './email/form.ts'
export type { SlackConfig } from './slack/form.ts'
export type { WebhookConfig } from './webhook/form.ts'
export type { SealField }

/** The forms of all channel kinds. */
const CHANNEL_FORMS = {
  slack: slackForm,
  email: emailForm,
  webhook: webhookForm,
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
export const ChannelConfigPatch = z
  .strictObject(Object.assign({}, ...forms.map(form => form.patch)) as Intersection<Form['patch']>)
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')
export type ChannelConfigPatch = z.infer<typeof ChannelConfigPatch>

/** The URLs in a configuration of any kind. */
export function urlsOf(config: ChannelConfigPatch): string[] {
  const names = new Set<string>(forms.flatMap(form => form.urls))
  return Object.entries(config).flatMap(([name, value]) =>
    names.has(name) && typeof value === 'string' ? [value] : [],
  )
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
  show(stored: ChannelConfig, nowMs: number): ShownChannelConfig
  erase(stored: ChannelConfig): ChannelConfig
}

function formOf(kind: ChannelKind): AnyForm {
  return CHANNEL_FORMS[kind] as unknown as AnyForm
}
