import type { Alert, StormMemberDocument } from '@backstop/contracts'

/** An unexplained action before it is decided whether it belongs to a storm. */
export type NewMember = Omit<StormMemberDocument, 'storm_id' | 'alone'>

/**
 * Returns the unexplained action of the alert; undefined if the alert is about something else.
 * @param fingerprint stands for a text that must not be stored
 */
export function newMemberOf(alert: Alert, nowMs: number, fingerprint: (text: string) => string): NewMember | undefined {
  if (alert.event !== 'incident.opened') return undefined
  const { incident, action } = alert.data
  if (incident.code !== 'UNEXPECTED_ACTION' || incident.connection_id === null || action === null) return undefined
  const { origin } = action
  return {
    _id: incident.incident_id,
    project_id: alert.project_id,
    connection_id: incident.connection_id,
    action_id: action.action_id,
    provider: action.provider,
    kind: action.kind,
    opened_at: new Date(incident.opened_at),
    amount: action.amount,
    currency: action.currency,
    subject: action.subject,
    facts: {
      channel: origin?.channel ?? null,
      key_name: origin?.key_name ?? null,
      user_fingerprint: origin?.user == null ? null : fingerprint(origin.user),
      mode: action.mode ?? null,
      customer_id: action.customer?.id ?? null,
      refund_reason: action.payment?.refund_reason ?? null,
    },
    recorded_at: new Date(nowMs),
    resolved_at: null,
    explained: false,
  }
}

/** The end of an unexplained action's incident. */
export interface MemberResolution {
  readonly incidentId: string
  readonly explained: boolean
  readonly atMs: number
}

export function resolutionOf(alert: Alert, nowMs: number): MemberResolution | undefined {
  if (alert.event !== 'incident.resolved' || alert.data.incident.code !== 'UNEXPECTED_ACTION') return undefined
  const { incident, action } = alert.data
  return { incidentId: incident.incident_id, explained: action?.verdict === 'explained', atMs: nowMs }
}
