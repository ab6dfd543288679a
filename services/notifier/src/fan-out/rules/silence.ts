import { type Alert, findSilenceAt } from '@backstop/contracts'
import type { KnownSilence, SilenceQuestion } from '../../channels/channel-store.ts'
import { isAboutIncident } from '../../incident-order/rules/ordering-key.ts'
import { connectionIdOf } from './connection-of-alert.ts'

/** What must be known to tell which of these alerts are silenced; undefined if none is about a connection. */
export function silenceQuestionOf(alerts: readonly Alert[]): SilenceQuestion | undefined {
  const connectionIds = new Set(alerts.map(silencedBy).filter(id => id !== null))
  if (connectionIds.size === 0) return undefined
  const times = alerts.filter(alert => silencedBy(alert) !== null).map(alert => raisedAt(alert).getTime())
  return { connectionIds: [...connectionIds], from: new Date(Math.min(...times)), to: new Date(Math.max(...times)) }
}

/**
 * The silence because of which nobody is notified of the alert. It depends only on the alert and on when the silence began and ended, so a
 * repeat after a crash has the same result, and so has the resolution of an incident that opened during a silence.
 */
export function silenceOf(alert: Alert, silences: readonly KnownSilence[]): KnownSilence | undefined {
  const connectionId = silencedBy(alert)
  if (connectionId === null) return undefined
  return findSilenceAt(
    silences.filter(silence => silence.connection_id === connectionId),
    raisedAt(alert),
  )
}

/**
 * The connection whose silences apply to the alert; null if none applies. Reports about storms are never silenced: silenced actions do not
 * join a storm, so a report contains only actions that people must hear of.
 */
function silencedBy(alert: Alert): string | null {
  return alert.event === 'storm.reported' ? null : connectionIdOf(alert)
}

/** For both alerts of an incident, the time when it opened. */
function raisedAt(alert: Alert): Date {
  return new Date(isAboutIncident(alert) ? alert.data.incident.opened_at : alert.created_at)
}
