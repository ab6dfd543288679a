import {
  AlertChannel,
  type ChannelConfig,
  type ChannelConfigPatch,
  type ChannelDocument,
  type ChannelHealth,
  eraseConfig,
  patchFieldsOf,
  showConfig,
} from '@backstop/channels'
import type { ChannelHealthDocument } from '@backstop/contracts'
import { showDocument } from '../../../rules/show-document.ts'

const DEAF =
  'Every connection that the filter names was deleted, so the channel gets no alert about a connection. Change or remove its filter'

/**
 * A channel as the API shows it, with fingerprints in place of secrets. A webhook_url is a secret, because it is enough for
 * posting.
 * @param isDeaf true if every connection that its filter names was deleted
 */
export function showChannel(
  document: ChannelDocument,
  health: ChannelHealthDocument | undefined,
  now: Date,
  isDeaf = false,
): AlertChannel {
  return showDocument(AlertChannel, document, {
    channel_id: document._id,
    id: document._id,
    config: showConfig(document.config, now),
    shows_personal_data: document.shows_personal_data ?? false,
    filter: document.filter ?? null,
    quiet_hours: document.quiet_hours ?? null,
    // A channel works when it is enabled and its health has not disabled it.
    enabled: document.enabled && (health?.disabled_at ?? null) === null,
    health: { ...showHealth(health, now), warning: isDeaf ? DEAF : warningOf(health) },
  })
}

/** The success rate covers this many days, including today. */
const RATE_DAYS = 7
const DAY_MS = 86_400_000

function showHealth(health: ChannelHealthDocument | undefined, now: Date): Omit<ChannelHealth, 'warning'> {
  const hold = holdOf(health, now)
  return {
    state: stateOf(health),
    success_rate: successRate(health?.days ?? {}, now),
    last_success_at: health?.last_success_at?.toISOString() ?? null,
    last_failure_at: health?.last_failure_at?.toISOString() ?? null,
    last_error: health?.last_error ?? null,
    failing_since: failingSince(health)?.toISOString() ?? null,
    held_until: hold?.until.toISOString() ?? null,
    held_reason: hold?.reason ?? null,
    disabled_at: health?.disabled_at?.toISOString() ?? null,
    disabled_reason: health?.disabled_reason ?? null,
  }
}

function warningOf(health: ChannelHealthDocument | undefined): string | null {
  if (health?.unreached === undefined) return null
  return `No address gets mail: ${health.unreached.reason}. Remove a suppression, or set other addresses`
}

/** Documents from before 0.3 have `failing_since` only. */
function failingSince(health: ChannelHealthDocument | undefined): Date | null {
  const known = [health?.unreached?.since, health?.undelivered_since, health?.failing_since]
  return known.find(since => since != null) ?? null
}

function stateOf(health: ChannelHealthDocument | undefined): ChannelHealth['state'] {
  if (health === undefined) return 'unused'
  if (health.disabled_at !== null) return 'disabled'
  if (failingSince(health) !== null) return 'failing'
  return health.last_success_at === null && health.last_failure_at === null ? 'unused' : 'healthy'
}

/** Rounded to four digits; more digits would suggest a precision that the rate does not have. */
function successRate(days: NonNullable<ChannelHealthDocument['days']>, now: Date): number | null {
  const oldest = new Date(now.getTime() - (RATE_DAYS - 1) * DAY_MS).toISOString().slice(0, 10)
  let delivered = 0
  let attempts = 0
  for (const [day, count] of Object.entries(days)) {
    if (day < oldest) continue
    delivered += count.delivered
    attempts += count.delivered + count.failed
  }
  return attempts === 0 ? null : Math.round((delivered / attempts) * 10_000) / 10_000
}

/**
 * Finds a read-only field that a client sent with another value than the channel has.
 * @param unchanged the sent values by their path, for example config.kind
 */
export function findDifference(shown: AlertChannel, unchanged: ReadonlyMap<string, unknown>): string | undefined {
  const values = new Map<string, unknown>([
    ...Object.entries(shown),
    ...Object.entries(shown.config).map(([field, value]) => [`config.${field}`, value] as const),
  ])
  return [...unchanged].find(([path, sent]) => JSON.stringify(sent) !== JSON.stringify(values.get(path)))?.[0]
}

/** The decision whether a change fits the config of a channel. */
export type ConfigPatchVerdict =
  | { readonly kind: 'fits' }
  | { readonly kind: 'refused'; readonly reason: 'of_another_kind'; readonly field: keyof ChannelConfigPatch }
  | { readonly kind: 'refused'; readonly reason: 'headers_to_another_host'; readonly field: 'headers' }

/**
 * Decides whether a change fits a channel's config. Header values may be credentials that the caller does not know, so a change of the
 * host must give the headers again.
 */
export function judgeConfigPatch(config: ChannelConfig, patch: ChannelConfigPatch): ConfigPatchVerdict {
  const parts = patchFieldsOf(config.kind)
  for (const field of Object.keys(patch) as (keyof ChannelConfigPatch)[]) {
    if (!parts.includes(field)) return { kind: 'refused', reason: 'of_another_kind', field }
  }
  if (config.kind !== 'webhook' || patch.url === undefined || patch.headers !== undefined) return { kind: 'fits' }
  const hasHeaders = Object.keys(config.headers ?? {}).length > 0
  return hasHeaders && originOf(patch.url) !== originOf(config.url)
    ? { kind: 'refused', reason: 'headers_to_another_host', field: 'headers' }
    : { kind: 'fits' }
}

function originOf(url: string): string | undefined {
  return URL.parse(url)?.origin
}

/** The document of a deleted channel: without its secrets and targets, so nothing can be sent with it. */
export function deletedChannel(
  { config }: ChannelDocument,
  now: Date,
): Pick<ChannelDocument, 'config' | 'enabled' | 'deleted_at'> {
  return { config: eraseConfig(config), enabled: false, deleted_at: now }
}

/** A pause of a channel that has not ended. */
export interface ShownHold {
  readonly until: Date
  /** The cause, for people to read: a sentence without its full stop. */
  readonly reason: string
}

const REASONS = {
  failing: 'The last attempts at this channel failed, one after the other',
  throttled: 'The receiver asked for a pause, or reported overload',
} as const

/** The pause of the channel at `now`; undefined if it is not paused. A disabled channel is not paused. */
export function holdOf(health: ChannelHealthDocument | undefined, now: Date): ShownHold | undefined {
  const held = health?.held
  if (health === undefined || held === undefined || health.disabled_at !== null || held.until <= now) return undefined
  return { until: held.until, reason: REASONS[held.reason] }
}
