import type { ChannelHealthDocument, TimedOutboxEntry } from '@backstop/contracts'
import {
  type ChannelIdentity,
  type IncidentOrder,
  openChannelIncident,
  resolveChannelIncident,
} from './incident-commands.ts'

/** A channel that works again after a pause. */
export interface Recovery {
  readonly channelId: string
  /** When the first of its attempts failed, in milliseconds since the epoch. */
  readonly failingSinceMs: number
}

/** What one attempt says about the health of its channel. */
export type HealthReport =
  | { kind: 'worked'; atMs: number; error: string | null }
  | { kind: 'failed'; atMs: number; error: string }
  /** The attempt failed because of the notifier or of one message. The channel shows it, but it never disables the channel. */
  | { kind: 'held_up'; atMs: number; error: string }
  /** The receiver's answer disables the channel at once (packages/channels/src/answer/answer-rules.ts). */
  | { kind: 'disable'; atMs: number; error: string; reasonCode: string }

/**
 * How long every attempt of a channel must fail before the channel is disabled, in milliseconds. Five days is common
 * for webhook senders.
 */
export const FAILING_TOO_LONG_MS = 5 * 86_400_000
/**
 * Minimum number of the last seven days on which an attempt failed. A single failure five days ago does not prove that
 * the channel fails today.
 */
export const MIN_FAILING_DAYS = 3
/** Number of days for which attempts are counted. */
export const DAYS_KEPT = 7

/** The change of a channel's health that several reports make, in the order of the reports. */
export interface HealthChange {
  readonly lastSuccessAtMs: number | null
  readonly lastFailureAtMs: number | null
  readonly lastError: string | null
  /** True if an attempt succeeded: it clears all failures before it. */
  readonly hasWorked: boolean
  /** The first failure of the receiver after the last success; null if there was none. */
  readonly failingSinceMs: number | null
  /** The first attempt after the last success that delivered nothing, whoever caused it; null if there was none. */
  readonly undeliveredSinceMs: number | null
  /** Attempts by day (`YYYY-MM-DD`, UTC), without attempts that failed because of the notifier. */
  readonly days: Readonly<Record<string, { readonly delivered: number; readonly failed: number }>>
}

export function summariseReports(reports: readonly HealthReport[]): HealthChange {
  let lastSuccessAtMs: number | null = null
  let lastFailureAtMs: number | null = null
  let lastError: string | null = null
  let failingSinceMs: number | null = null
  let undeliveredSinceMs: number | null = null
  const days: Record<string, { delivered: number; failed: number }> = {}
  const countOn = (atMs: number) => {
    const day = dayOf(atMs)
    days[day] ??= { delivered: 0, failed: 0 }
    return days[day]
  }
  for (const one of reports) {
    lastError = one.error ?? lastError
    if (one.kind === 'worked') {
      countOn(one.atMs).delivered += 1
      lastSuccessAtMs = Math.max(one.atMs, lastSuccessAtMs ?? 0)
      failingSinceMs = null
      undeliveredSinceMs = null
      continue
    }
    undeliveredSinceMs ??= one.atMs
    lastFailureAtMs = Math.max(one.atMs, lastFailureAtMs ?? 0)
    if (one.kind === 'held_up') continue
    countOn(one.atMs).failed += 1
    failingSinceMs ??= one.atMs
  }
  const hasWorked = lastSuccessAtMs !== null
  return { lastSuccessAtMs, lastFailureAtMs, lastError, hasWorked, failingSinceMs, undeliveredSinceMs, days }
}

/** The day in UTC as `YYYY-MM-DD`. */
export function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

/** The first day that is kept if this day is the latest. */
export function oldestDayKept(latestDay: string): string {
  return dayOf(Date.parse(latestDay) - (DAYS_KEPT - 1) * 86_400_000)
}

export type HealthVerdict =
  | { kind: 'goes_on'; reason: 'disabled_before' | 'not_failing' | 'not_failing_for_long' | 'too_few_days_of_attempts' }
  | { kind: 'disable'; reason: 'failing_for_five_days'; text: string }

/** Decides whether every attempt of a channel has failed for so long that the channel is disabled. */
export function judgeHealth(
  health: Pick<ChannelHealthDocument, 'disabled_at' | 'failing_since' | 'days' | 'last_error'>,
  nowMs: number,
): HealthVerdict {
  if (health.disabled_at !== null) return { kind: 'goes_on', reason: 'disabled_before' }
  if (health.failing_since == null) return { kind: 'goes_on', reason: 'not_failing' }
  if (nowMs - health.failing_since.getTime() < FAILING_TOO_LONG_MS) {
    return { kind: 'goes_on', reason: 'not_failing_for_long' }
  }
  const firstDay = dayOf(health.failing_since.getTime())
  const failingDays = Object.entries(health.days ?? {}).filter(
    ([day, { failed }]) => day >= firstDay && failed > 0,
  ).length
  if (failingDays < MIN_FAILING_DAYS) return { kind: 'goes_on', reason: 'too_few_days_of_attempts' }
  const last = health.last_error === null ? '' : `. The last failure: ${health.last_error}`
  return { kind: 'disable', reason: 'failing_for_five_days', text: `Nothing arrived there for five days${last}` }
}

/**
 * The disabling of a channel with the command that opens an incident about it, stored in one write. The project's other
 * channels announce the incident.
 */
export interface DisableOrder extends IncidentOrder {
  readonly channelId: string
  readonly projectId: string
  readonly atMs: number
  /** The reason in words that a person can act on. */
  readonly reason: string
}

export function disableChannel(channel: ChannelIdentity, reason: string, atMs: number): DisableOrder {
  const { channelId, projectId } = channel
  return { channelId, projectId, atMs, reason, ...openChannelIncident(channel, 'disabled', reason, atMs) }
}

export type EnableDecision =
  | { kind: 'enable'; reason: 'asked'; incidentId: string | null; entry: TimedOutboxEntry | null }
  | { kind: 'keep'; reason: 'never_used' | 'of_another_project' | 'disabled_since' }

/**
 * Decides whether a request to enable a channel clears its failures and resolves the incident about it.
 * @param askedAtMs when the request was made; if the channel was disabled after that, it stays disabled
 */
export function enableChannel(
  health: Pick<ChannelHealthDocument, '_id' | 'project_id' | 'disabled_at' | 'disabled_incident_id'> | undefined,
  projectId: string,
  askedAtMs: number,
): EnableDecision {
  if (health === undefined) return { kind: 'keep', reason: 'never_used' }
  if (health.project_id !== projectId) return { kind: 'keep', reason: 'of_another_project' }
  if (health.disabled_at !== null && health.disabled_at.getTime() > askedAtMs) {
    return { kind: 'keep', reason: 'disabled_since' }
  }
  const incidentId = health.disabled_at === null ? null : (health.disabled_incident_id ?? null)
  if (incidentId === null) return { kind: 'enable', reason: 'asked', incidentId, entry: null }
  const channel = { channelId: health._id, projectId: health.project_id }
  const { entry } = resolveChannelIncident(channel, incidentId, askedAtMs)
  return { kind: 'enable', reason: 'asked', incidentId, entry }
}
