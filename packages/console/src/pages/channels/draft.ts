import type { AlertChannel, AlertChannelPatch, NewAlertChannel } from '@backstop/client'
import { decimalAmount, parseMoney } from '../../format/money.ts'
import type { useFields } from '../../parts/form/index.ts'
import type { ChannelEvent, ChannelKind } from './words.ts'

type QuietHours = NonNullable<NewAlertChannel['quiet_hours']>
type Filter = NonNullable<NewAlertChannel['filter']>

/** What the form of a channel contains, as text. Secrets are empty unless somebody types new ones. */
export interface Draft {
  readonly name: string
  readonly kind: ChannelKind
  readonly events: readonly ChannelEvent[]
  /** slack, teams and discord */
  readonly webhookUrl: string
  /** email: addresses, one on each line */
  readonly to: string
  readonly url: string
  /** webhook: a signing secret of its own, only for a new channel */
  readonly secret: string
  /** webhook: one header on each line, `Name: value`; undefined keeps the saved headers */
  readonly headers: string | undefined
  readonly template: string
  readonly routingKey: string
  readonly eventsUrl: string
  readonly showsPersonalData: boolean
  readonly connectionIds: readonly string[]
  readonly kinds: readonly ('refund' | 'cancellation')[]
  /** One amount on each line, with its currency: `EUR 50.00` */
  readonly minimumAmounts: string
  readonly quietHours: QuietHours | null
}

type Faults = Partial<Record<keyof Draft, string>>

export interface FormProps extends Pick<ReturnType<typeof useFields<Draft>>, 'field' | 'edit'> {
  draft: Draft
  faults: Faults
}

export const EMPTY_DRAFT: Draft = {
  name: '',
  kind: 'slack',
  events: ['incident.opened', 'incident.resolved'],
  webhookUrl: '',
  to: '',
  url: '',
  secret: '',
  headers: '',
  template: '',
  routingKey: '',
  eventsUrl: '',
  showsPersonalData: false,
  connectionIds: [],
  kinds: [],
  minimumAmounts: '',
  quietHours: null,
}

export function draftOf({ name, events, config, shows_personal_data, filter, quiet_hours }: AlertChannel): Draft {
  const minimums = Object.entries(filter?.minimum_amounts ?? {})
  return {
    ...EMPTY_DRAFT,
    name,
    kind: config.kind,
    events,
    to: config.kind === 'email' ? config.to.join('\n') : '',
    url: config.kind === 'webhook' ? config.url : '',
    headers: undefined,
    template: config.kind === 'webhook' ? (config.template ?? '') : '',
    showsPersonalData: shows_personal_data,
    connectionIds: filter?.connection_ids ?? [],
    kinds: filter?.kinds ?? [],
    minimumAmounts: minimums
      .map(([currency, amount]) => `${currency.toUpperCase()} ${decimalAmount(Number(amount), currency)}`)
      .join('\n'),
    quietHours: quiet_hours,
  }
}

/** The faults of a draft that the console can see before it is sent, by field. */
export function findFaults(draft: Draft, isNew: boolean): Faults {
  const { name, kind, events } = draft
  const faults: Partial<Record<keyof Draft, string>> = {}
  if (name.trim() === '') faults.name = 'Give the channel a name'
  if (events.length === 0) faults.events = 'Choose at least one event'
  if (parseMinimums(draft.minimumAmounts) === undefined) {
    faults.minimumAmounts = 'Write a currency and an amount on each line, for example EUR 50.00'
  }
  if (draft.headers !== undefined && parseHeaders(draft.headers) === undefined) {
    faults.headers = 'Write one header on each line, as Name: value'
  }
  if (kind === 'email' && linesOf(draft.to).length === 0) faults.to = 'Give at least one address'
  if (kind === 'webhook' && !isUrl(draft.url)) faults.url = 'Give a URL, for example https://example.com/hooks'
  if (kind === 'pagerduty' && isNew && draft.routingKey.trim() === '') faults.routingKey = 'Give the Integration Key'
  const hasUrl = kind === 'slack' || kind === 'teams' || kind === 'discord'
  if (hasUrl && (isNew || draft.webhookUrl !== '') && !isUrl(draft.webhookUrl)) {
    faults.webhookUrl = 'Give the URL of the incoming webhook'
  }
  return faults
}

export function newChannelOf(draft: Draft, projectId: string): NewAlertChannel {
  return {
    project_id: projectId,
    name: draft.name.trim(),
    events: [...draft.events],
    config: newConfigOf(draft),
    shows_personal_data: draft.showsPersonalData,
    filter: filterOf(draft),
    quiet_hours: quietHoursOf(draft),
  }
}

function newConfigOf({ kind, webhookUrl, to, url, secret, headers, template, routingKey, eventsUrl }: Draft) {
  switch (kind) {
    case 'slack':
    case 'teams':
    case 'discord':
      return { kind, webhook_url: webhookUrl.trim() }
    case 'email':
      return { kind, to: linesOf(to) }
    case 'pagerduty':
      return { kind, routing_key: routingKey.trim(), ...(eventsUrl === '' ? {} : { events_url: eventsUrl }) }
    case 'webhook':
      return {
        kind,
        url: url.trim(),
        ...(secret === '' ? {} : { secret }),
        ...(headers === undefined || headers === '' ? {} : { headers: parseHeaders(headers) ?? {} }),
        ...(template.trim() === '' ? {} : { template }),
      }
    default:
      return kind satisfies never
  }
}

/** The fields of the draft that differ from the channel; undefined if none does. */
export function patchOf(draft: Draft, channel: AlertChannel): AlertChannelPatch | undefined {
  const before = draftOf(channel)
  const config: NonNullable<AlertChannelPatch['config']> = {
    ...(draft.webhookUrl === '' ? {} : { webhook_url: draft.webhookUrl.trim() }),
    ...(draft.routingKey === '' ? {} : { routing_key: draft.routingKey.trim() }),
    ...(isSame(linesOf(draft.to), linesOf(before.to)) ? {} : { to: linesOf(draft.to) }),
    ...(draft.url.trim() === before.url ? {} : { url: draft.url.trim() }),
    ...(draft.headers === undefined ? {} : { headers: parseHeaders(draft.headers) ?? {} }),
    ...(draft.template === before.template ? {} : { template: draft.template.trim() === '' ? null : draft.template }),
  }
  const patch: AlertChannelPatch = {
    ...(draft.name.trim() === before.name ? {} : { name: draft.name.trim() }),
    ...(isSame(draft.events.toSorted(), before.events.toSorted()) ? {} : { events: [...draft.events] }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...(draft.showsPersonalData === before.showsPersonalData ? {} : { shows_personal_data: draft.showsPersonalData }),
    ...(isSame(filterOf(draft), filterOf(before)) ? {} : { filter: filterOf(draft) }),
    ...(isSame(quietHoursOf(draft), quietHoursOf(before)) ? {} : { quiet_hours: quietHoursOf(draft) }),
  }
  return Object.keys(patch).length === 0 ? undefined : patch
}

function filterOf({ connectionIds, kinds, minimumAmounts }: Draft): Filter | null {
  const minimums = parseMinimums(minimumAmounts) ?? {}
  const hasMinimum = Object.keys(minimums).length > 0
  if (connectionIds.length === 0 && kinds.length === 0 && !hasMinimum) return null
  return {
    connection_ids: connectionIds.length === 0 ? null : [...connectionIds],
    kinds: kinds.length === 0 ? null : [...kinds],
    minimum_amounts: hasMinimum ? minimums : null,
  }
}

/** Only Slack and e-mail have digests, so only they have quiet hours. */
export function canBeQuiet(kind: ChannelKind): boolean {
  return kind === 'slack' || kind === 'email'
}

function quietHoursOf({ kind, quietHours }: Draft): QuietHours | null {
  if (!canBeQuiet(kind) || quietHours === null) return null
  const days = quietHours.days ?? []
  return { ...quietHours, days: days.length === 0 || days.length === 7 ? null : days }
}

/** Amounts in minor units by currency; undefined if a line is no amount. */
export function parseMinimums(text: string): Record<string, number> | undefined {
  const amounts: Record<string, number> = {}
  for (const line of linesOf(text)) {
    const [, currency, amount] = /^([a-z]{3})\s*(\S.*)$/i.exec(line) ?? []
    const minor = currency === undefined || amount === undefined ? undefined : parseMoney(amount, currency)
    if (currency === undefined || minor === undefined) return undefined
    amounts[currency.toLowerCase()] = minor
  }
  return amounts
}

/** Headers of one line each; undefined if a line is no header. */
export function parseHeaders(text: string): Record<string, string> | undefined {
  const headers: Record<string, string> = {}
  for (const line of linesOf(text)) {
    const [, name, value] = /^([^\s:]+):\s*(.+)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    headers[name] = value
  }
  return headers
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map(line => line.trim())
    .filter(line => line !== '')
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text.trim()) && URL.canParse(text.trim())
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
