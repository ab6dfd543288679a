import type { Action, Alert, Incident, IncidentEvent, IncidentReason } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factsOfAction, isTest, providerUrlOf } from './describe-action.ts'
import { describeBurst, isTestBurst } from './describe-burst.ts'
import { describeFault, type IncidentText } from './describe-fault.ts'
import { describeRepeat } from './describe-repeat.ts'
import { nextStepsOf, nextStepsOfCanary } from './next-steps.ts'
import { describeOrigin } from './origin-text.ts'
import {
  type FactRow,
  factsIn,
  formatTime,
  listIds,
  lowerFirst,
  nameAction,
  nounOfSubject,
  oneLineOrNull,
  timeOrNull,
  toOneLine,
} from './wording.ts'

type IncidentAlert = Extract<Alert, { event: IncidentEvent }>

/** Describes an incident: what happened, who made it, and what to do about it. */
export function describeIncident(alert: IncidentAlert): AlertTexts {
  const { incident, action, names } = alert.data
  const { burst } = incident
  const text = textOf(alert)
  const title = titleOf(alert, text)
  const isInTest = burst === undefined ? action !== null && isTest(action) : isTestBurst(burst)
  return {
    title: isInTest ? `[Test mode] ${title}` : title,
    summary: describeDecision(incident, text.summary),
    facts: [
      ...text.facts,
      ...(action === null ? [] : factsOfAction(action, names)),
      ...factsIn([
        [
          'Since',
          action === null && burst === undefined && incident.resolved_at === null
            ? formatTime(incident.opened_at)
            : null,
        ],
        ...rowsOfLifeCycle(incident),
      ]),
    ],
    next: alert.event === 'incident.opened' ? text.next : { sentence: nextAfter(alert), steps: [] },
    tone: TONES[alert.event],
    providerUrl: action === null ? null : providerUrlOf(action),
    reference: burst === undefined ? incident.incident_id : (incident.storm_id ?? incident.incident_id),
    ids: idsOf(incident, action),
  }
}

function textOf(alert: IncidentAlert): IncidentText {
  const { incident, action } = alert.data
  if (incident.burst !== undefined) return describeBurst(alert.data, incident.burst)
  return action === null ? describeFault(alert) : describeActionIncident(action, alert)
}

const TONES = {
  'incident.opened': 'alarm',
  'incident.acknowledged': 'neutral',
  'incident.resolved': 'relief',
} as const satisfies Record<IncidentEvent, AlertTexts['tone']>

const NEXT = {
  'incident.acknowledged': 'Somebody works on it.',
  'incident.resolved': 'There is nothing left to do.',
} as const
/** A burst may end although some of its actions are unexplained or not looked at. */
const NEXT_AFTER_BURST =
  'Each of its actions that nothing explains has an incident of its own: see whether any is open.'

function nextAfter({ event, data }: IncidentAlert & { event: keyof typeof NEXT }): string {
  return event === 'incident.resolved' && data.incident.burst !== undefined ? NEXT_AFTER_BURST : NEXT[event]
}

function titleOf({ event, data: { incident, supersedes } }: IncidentAlert, text: IncidentText): string {
  const wasOpened = supersedes !== undefined
  switch (event) {
    case 'incident.opened':
      return (incident.reopened ?? 0) > 0 ? `Opened again: ${lowerFirst(text.opened)}` : text.opened
    case 'incident.acknowledged':
      return `${wasOpened ? 'Opened and acknowledged' : 'Acknowledged'}: ${lowerFirst(text.opened)}`
    case 'incident.resolved':
      return `${wasOpened ? 'Opened and resolved' : 'Resolved'}: ${isClosedByPerson(incident) ? lowerFirst(text.opened) : text.resolved}`
    default:
      return event satisfies never
  }
}

/** True if a person, or the deletion of the connection, resolved the incident, and not the end of its cause. */
function isClosedByPerson(incident: Incident): boolean {
  return incident.state === 'resolved' && incident.reason != null
}

const REASONS: Record<IncidentReason, string> = {
  our_own_change: 'It was our own change',
  fraud_or_leaked_key: 'Fraud or a leaked key',
  provider_mistake: 'A mistake of the provider',
  duplicate: 'A duplicate of another incident',
  other: 'Another reason',
  connection_deleted: 'The connection was deleted',
}

/** Who decided what about the incident, or else what happened. */
function describeDecision(incident: Incident, summary: string): string {
  const { state, reason, resolved_by, acknowledged_by } = incident
  if (isClosedByPerson(incident) && reason != null) {
    return `${toOneLine(resolved_by ?? 'Somebody')} resolved the incident: ${lowerFirst(REASONS[reason])}.`
  }
  if (state === 'acknowledged')
    return `${toOneLine(acknowledged_by ?? 'Somebody')} acknowledged the incident. ${summary}`
  return summary
}

function rowsOfLifeCycle(incident: Incident): FactRow[] {
  const { state, opened_at, acknowledged_at, acknowledged_by, assignee, resolved_at, resolved_by, reason, note } =
    incident
  const isClosed = isClosedByPerson(incident)
  return [
    ['Opened at', state === 'open' ? null : formatTime(opened_at)],
    ['Acknowledged at', timeOrNull(acknowledged_at)],
    ['Acknowledged by', oneLineOrNull(acknowledged_by)],
    ['Assigned to', oneLineOrNull(assignee)],
    ['Resolved at', timeOrNull(resolved_at)],
    ['Resolved by', isClosed ? oneLineOrNull(resolved_by) : null],
    ['Reason', isClosed && reason != null ? REASONS[reason] : null],
    ['Note', isClosed ? oneLineOrNull(note) : null],
  ]
}

function describeActionIncident(action: Action, { event, data }: IncidentAlert): IncidentText {
  const what = nameAction(action)
  const { refunded_twice } = data.incident
  if (refunded_twice !== undefined) return describeRepeat(action, data.incident, refunded_twice)
  if (data.incident.code === 'CANARY_USED') {
    return {
      opened: `Canary used: ${what}`,
      resolved: `the canary that made a ${what}`,
      summary: `A ${what} ${describeMaking(action)}. The actor is a canary, kept only as a trap. Whoever used it has read your secrets or is in your account.`,
      facts: [],
      next: nextStepsOfCanary(action),
    }
  }
  if (data.incident.code === 'REFUND_REJECTED') {
    return {
      opened: `Rejected: ${what}`,
      resolved: `the rejected ${what}`,
      summary: `A ${what} that your software asked for was rejected by the provider. No money moved, and the customer still waits for it.`,
      facts: [],
      next: {
        sentence: 'Decide whether the customer should get the money in another way.',
        steps: [
          "Open the payment in the provider's dashboard. It says why the refund was rejected.",
          'Show this message to the developers of the software that asked for it.',
        ],
      },
    }
  }
  return {
    opened: `Unexplained ${what}${describeState(action)}`,
    resolved: `the ${what} ${describeVerdict(action)}`,
    summary:
      event !== 'incident.resolved' || isClosedByPerson(data.incident)
        ? `A ${what} ${describeMaking(action)}, but neither your software nor your team reported it.${describeEffect(action)}${describeReadBack(action)}`
        : describeResolution(action, what),
    facts: [],
    next: nextStepsOf(action),
  }
}

/**
 * The state of a refund that has not succeeded, or of a cancellation that is over. Without it a reader would believe that
 * the money was paid, or that the subscription ends.
 */
function describeState({ kind, state, authorization_released, subscription_continues }: Action): string {
  if (authorization_released) return ''
  if (kind === 'refund') return state === 'succeeded' ? '' : ` (${state.replaceAll('_', ' ')})`
  if (state === 'canceled' && subscription_continues === false) return ' (did not take effect)'
  return state === 'canceled' || state === 'reversed' ? ' (taken back)' : ''
}

function describeMaking(action: Action): string {
  const by = describeOrigin(action)
  if (action.kind !== 'refund') return describeCancellation(action, by)
  if (action.authorization_released) return `was made ${by}`
  switch (action.state) {
    case 'succeeded':
      return `was made ${by}`
    case 'pending':
      return `was requested ${by} and is not final yet`
    case 'requires_action':
      return `was requested ${by} and waits for the customer`
    case 'scheduled':
      return `was scheduled ${by}`
    case 'failed':
      return `was tried ${by} and failed, so no money moved`
    case 'canceled':
      return `was requested ${by} and cancelled, so no money moved`
    case 'rejected':
      return `was requested ${by} and rejected by the provider, so no money moved`
    case 'reversed':
      return `was made ${by} and taken back later`
    default:
      return action.state satisfies never
  }
}

function describeCancellation({ state, subscription_continues }: Action, by: string): string {
  switch (state) {
    case 'scheduled':
      return `was scheduled ${by}`
    case 'canceled':
      return `was set ${by} and ${subscription_continues === false ? 'did not take effect' : 'taken back'}`
    case 'reversed':
      return `was made ${by} and taken back later`
    default:
      return `was made ${by}`
  }
}

/** What a change that looks like a loss did not do. */
function describeEffect({ authorization_released, subscription_continues }: Action): string {
  if (authorization_released) return ' No money moved, because the payment was never captured.'
  if (subscription_continues === undefined) return ''
  return subscription_continues ? ' The subscription continues.' : ' Another cancellation of the subscription followed.'
}

function describeReadBack({ why }: Action): string {
  return why?.read_back === 'not_found' ? ' The provider reported it, but did not find it when it was asked again.' : ''
}

/** The part of the headline that says how an incident ended. */
function describeVerdict({ verdict, reason }: Action): string {
  if (verdict === 'explained') return 'is explained'
  if (reason === 'provider_denies_it') return 'did not go through'
  return verdict === 'not_alerted' ? 'needs no explanation' : 'is no longer followed up here'
}

function describeResolution({ verdict, reason, why }: Action, what: string): string {
  if (verdict === 'explained') {
    const by =
      reason === 'expected_change_matches'
        ? 'your team recorded it as an expected change'
        : 'your software has now reported it as its own'
    return `The ${what} is explained: ${by}.`
  }
  if (reason === 'provider_denies_it') {
    return `The ${what} did not go through: the provider was asked again and does not have it.`
  }
  return verdict === 'not_alerted'
    ? `The ${what} needs no explanation${why === undefined ? '' : `: ${lowerFirst(why.rule)}`}.`
    : `The incident about the ${what} was closed without an explanation.`
}

function idsOf(incident: Incident, action: Action | null): string {
  return listIds({
    incident: incident.incident_id,
    ...(action === null
      ? {
          storm: incident.burst === undefined ? null : incident.storm_id,
          connection: incident.connection_id,
          channel: incident.channel_id,
          key: incident.key_id,
        }
      : {
          [nounOfSubject(action.kind)]: action.subject,
          [action.kind]: action.provider_ref,
          customer: action.customer?.id,
          account: action.account,
          request: action.origin?.request_id,
          'idempotency key': action.origin?.idempotency_key,
          operation: action.operation_id,
          'similar operation': action.operation_id === null ? action.why?.closest?.operation_id : null,
        }),
  })
}
