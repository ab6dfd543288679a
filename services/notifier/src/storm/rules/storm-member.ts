import {
  type Alert,
  containsEmailAddress,
  type Incident,
  isPersonalDetail,
  type StormMemberDocument,
  stormScopeOf,
} from '@backstop/contracts'

/** The incidents of which many are one story: one for each unexplained action, and one for each action of a canary. */
const CODES_OF_STORMS: ReadonlySet<Incident['code']> = new Set(['UNEXPECTED_ACTION', 'CANARY_USED'])

/** An action before it is decided whether it belongs to a storm. */
export type NewMember = Omit<StormMemberDocument, 'storm_id' | 'alone'>

/**
 * Returns the action of the alert, unexplained or of a canary; undefined if the alert is about something else.
 * @param fingerprint stands for a text that must not be stored
 */
export function newMemberOf(alert: Alert, nowMs: number, fingerprint: (text: string) => string): NewMember | undefined {
  if (alert.event !== 'incident.opened') return undefined
  const { incident, action } = alert.data
  if (!CODES_OF_STORMS.has(incident.code) || incident.connection_id === null || action === null) return undefined
  const { origin, actor_id = null, provider, customer, payment, account } = action
  const stored = (name: 'origin.key_name' | 'payment.refund_reason', value: string | null | undefined) =>
    value == null || isPersonalDetail(provider, name, value) ? null : value
  const customerId = customer?.id ?? null
  return {
    _id: incident.incident_id,
    project_id: alert.project_id,
    connection_id: stormScopeOf(incident.connection_id, account),
    ...(account === undefined ? {} : { account }),
    action_id: action.action_id,
    provider,
    kind: action.kind,
    opened_at: new Date(incident.opened_at),
    amount: action.amount,
    currency: action.currency,
    state: action.state,
    subject: action.subject,
    facts: {
      channel: origin?.channel ?? null,
      key_name: stored('origin.key_name', origin?.key_name),
      actor_id,
      user_fingerprint: origin?.user == null ? null : fingerprint(origin.user),
      mode: action.mode ?? null,
      customer_id: customerId !== null && containsEmailAddress(customerId) ? fingerprint(customerId) : customerId,
      refund_reason: stored('payment.refund_reason', payment?.refund_reason),
    },
    recorded_at: new Date(nowMs),
    acknowledged_at: null,
    resolved_at: null,
    explained: false,
  }
}

/** What a later alert about an incident changes in its member. */
export interface MemberChange {
  readonly incidentId: string
  readonly set: Partial<Pick<StormMemberDocument, 'acknowledged_at' | 'resolved_at' | 'explained' | 'state'>>
}

/** @returns undefined if the alert changes no member */
export function memberChangeOf(alert: Alert, nowMs: number): MemberChange | undefined {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      break
    default:
      return undefined
  }
  const { incident, action } = alert.data
  if (!CODES_OF_STORMS.has(incident.code)) return undefined
  const incidentId = incident.incident_id
  if (alert.event === 'incident.acknowledged') return { incidentId, set: { acknowledged_at: new Date(nowMs) } }
  // The first opening, also if it is delivered again, changes nothing.
  if (alert.event === 'incident.opened' && (incident.reopened ?? 0) === 0) return undefined
  const state = action === null ? {} : { state: action.state }
  if (alert.event === 'incident.opened') {
    return { incidentId, set: { acknowledged_at: null, resolved_at: null, explained: false, ...state } }
  }
  return { incidentId, set: { resolved_at: new Date(nowMs), explained: action?.verdict === 'explained', ...state } }
}
