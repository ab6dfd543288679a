import type { ChannelKind, StoredChannel } from '@backstop/contracts'
import { z } from 'zod'
import { emailForm } from './email/form.ts'
import type { SealPart } from './form.ts'
import { slackForm } from './slack/form.ts'
import { webhookForm } from './webhook/form.ts'

export type { EmailConfig } from './email/form.ts'
export type { SlackConfig } from './slack/form.ts'
export { standardKeyOf, type WebhookConfig } from './webhook/form.ts'

/** Every kind of channel. Adding one adds its file and a line here. */
const CHANNEL_FORMS = {
  slack: slackForm,
  email: emailForm,
  webhook: webhookForm,
} satisfies Record<ChannelKind, unknown>

type Forms = typeof CHANNEL_FORMS
type Form = Forms[ChannelKind]
type Listed<T> = [T, ...T[]]
type Intersection<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** Where a channel delivers, with its secrets sealed. */
export type ChannelConfig = ReturnType<Form['seal']>
export type ChannelDocument = StoredChannel<ChannelConfig>

const forms = Object.values(CHANNEL_FORMS)

export const NewChannelConfig = z.discriminatedUnion('kind', forms.map(form => form.given) as Listed<Form['given']>)
export type NewChannelConfig = z.infer<typeof NewChannelConfig>

/** A channel's config as it is shown: secrets appear only as fingerprints. */
export const ShownChannelConfig = z.discriminatedUnion('kind', forms.map(form => form.shown) as Listed<Form['shown']>)
export type ShownChannelConfig = z.infer<typeof ShownChannelConfig>

/** The parts of a channel's config that change in place; which of them there are follows from its kind, which stays. */
export const ChannelConfigPatch = z
  .strictObject(Object.assign({}, ...forms.map(form => form.parts)) as Intersection<Form['parts']>)
  .refine(patch => Object.keys(patch).length > 0, 'Name what is to change')
export type ChannelConfigPatch = z.infer<typeof ChannelConfigPatch>

/** What of a config is a URL, whatever kind it is of. */
export function urlsOf(config: ChannelConfigPatch): string[] {
  const names = new Set<string>(forms.flatMap(form => form.urls))
  return Object.entries(config).flatMap(([name, value]) =>
    names.has(name) && typeof value === 'string' ? [value] : [],
  )
}

/** The names of the parts that a kind has. */
export function partsOf(kind: ChannelKind): readonly string[] {
  return Object.keys(CHANNEL_FORMS[kind].parts)
}

/** A new channel's config as it is stored. */
export function sealConfig(config: NewChannelConfig, seal: SealPart): ChannelConfig {
  return formOf(config.kind).seal(config, seal)
}

/** The config with those parts changed that the patch names; all of them are parts of its kind. */
export function changeConfig(config: ChannelConfig, patch: ChannelConfigPatch, seal: SealPart): ChannelConfig {
  return formOf(config.kind).change(config, patch, seal)
}

export function showConfig(config: ChannelConfig, now: Date): ShownChannelConfig {
  return formOf(config.kind).show(config, now.getTime())
}

/** What is left of the config of a channel that is deleted: nothing that anything could be sent with. */
export function eraseConfig(config: ChannelConfig): ChannelConfig {
  return formOf(config.kind).erase(config)
}

/** A form as it is for the config of its own kind, which the type checker cannot follow through a lookup. */
interface AnyForm {
  seal(given: NewChannelConfig, seal: SealPart): ChannelConfig
  change(stored: ChannelConfig, patch: ChannelConfigPatch, seal: SealPart): ChannelConfig
  show(stored: ChannelConfig, nowMs: number): ShownChannelConfig
  erase(stored: ChannelConfig): ChannelConfig
}

function formOf(kind: ChannelKind): AnyForm {
  return CHANNEL_FORMS[kind] as unknown as AnyForm
}

export type { SealPart }
