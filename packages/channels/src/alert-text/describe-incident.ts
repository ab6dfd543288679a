import type { Action, Alert, Incident, IncidentEvent, IncidentReason } from '@backstop/contracts'
import { alarmingFact } from './alarming-fact.ts'
import type { AlertTexts } from './alert-description.ts'
import { factsOfAction, providerUrlOf, titleOfAction } from './describe-action.ts'
import { describeBurst, isTestBurst } from './describe-burst.ts'
import { describeFault, type IncidentText } from './describe-fault.ts'
import { describeRepeat } from './describe-repeat.ts'
import { nextStepsOfCanary, providerStepsOf } from './next-steps.ts'
import { timeWithAge } from './times.ts'
import { factsIn, lowerFirst, nameAction, oneLineOrNull, shortTextOrNull, toOneLine } from './wording.ts'

type IncidentAlert = Extract<Alert, { event: IncidentEvent }>

/** Describes an incident: what happened, who made it, and what to do about it. */
export function describeIncident(alert: IncidentAlert, nowMs: number): AlertTexts {
  const { incident, action, names } = alert.data
  const { burst } = incident
  const text = textOf(alert)
  const title = titleOf(alert, text)
  return {
    title:
      action !== null
        ? titleOfAction(title, action, names)
        : burst !== undefined && isTestBurst(burst)
          ? `[Test mode] ${title}`
          : title,
    summary: describeDecision(incident, text.summary),
    facts: alert.event === 'incident.opened' ? factsOfOpened(alert, text, nowMs) : factsOfPeople(incident),
    next: alert.event === 'incident.opened' ? text.next : { sentence: nextAfter(alert), steps: [] },
    tone: TONES[alert.event],
    providerUrl: action === null ? null : providerUrlOf(action),
    reference: burst === undefined ? incident.incident_id : (incident.storm_id ?? incident.incident_id),
  }
}

function factsOfOpened({ data }: IncidentAlert, { facts = [] }: IncidentText, nowMs: number): AlertTexts['facts'] {
  const { incident, action } = data
  const since = incident.burst === undefined ? timeWithAge(incident.opened_at, nowMs) : null
  return [...facts, ...(action === null ? factsIn([['Since', since]]) : factsOfAction(action, nowMs))]
}

/** What people said about an incident that somebody works on, or that is over. */
function factsOfPeople(incident: Incident): AlertTexts['facts'] {
  return factsIn([
    ['Assigned to', oneLineOrNull(incident.assignee)],
    ['Note', isClosedByPerson(incident) ? shortTextOrNull(incident.note) : null],
  ])
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
  'If some are still unexplained, each has an incident of its own: see in the console whether one is open.'

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

/** Who decided what about the incident and when, or else what happened. */
function describeDecision(incident: Incident, summary: string): string {
  const { state, reason, resolved_by, resolved_at, acknowledged_by, acknowledged_at } = incident
  if (isClosedByPerson(incident) && reason != null) {
    return `${toOneLine(resolved_by ?? 'Somebody')} resolved the incident${atTime(resolved_at)}: ${lowerFirst(REASONS[reason])}.`
  }
  if (state === 'acknowledged')
    return `${toOneLine(acknowledged_by ?? 'Somebody')} acknowledged the incident${atTime(acknowledged_at)}.`
  return summary
}

function atTime(iso: string | null | undefined): string {
  return iso == null ? '' : ` at ${iso}`
}

function describeActionIncident(action: Action, { event, data }: IncidentAlert): IncidentText {
  const what = nameAction(action)
  const { refunded_twice } = data.incident
  if (refunded_twice !== undefined) return describeRepeat(action, data.incident, refunded_twice)
  if (data.incident.code === 'CANARY_USED') {
    return {
      opened: `Canary used: ${what}`,
      resolved: `the canary that made a ${what}`,
      summary: 'A canary made it: a key or login that exists only as a trap.',
      next: nextStepsOfCanary(action),
    }
  }
  if (data.incident.code === 'REFUND_REJECTED') {
    return {
      opened: `Rejected: ${what}`,
      resolved: `the rejected ${what}`,
      summary: 'The provider rejected it. No money moved, and the customer still waits for it.',
      next: {
        sentence: 'Decide whether the customer should get the money in another way.',
        steps: [
          "Open the payment in the provider's dashboard. It says why the refund was rejected.",
          'Show this message to the developers of the software that asked for it.',
        ],
      },
    }
  }
  const isOver = event === 'incident.resolved' && !isClosedByPerson(data.incident)
  return {
    opened: `Unexplained ${what}${describeState(action)}`,
    resolved: `the ${what} ${describeVerdict(action)}`,
    summary: isOver ? describeResolution(action, what) : describeUnexplained(action),
    next: providerStepsOf(action),
  }
}

/** The alarming fact about the action, and its state. */
function describeUnexplained(action: Action): string {
  return [
    alarmingFact(action),
    ...describeProgress(action),
    ...describeEffect(action),
    ...describeReadBack(action),
  ].join(' ')
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

/** What became of a refund that has not succeeded. */
const PROGRESS: Partial<Record<Action['state'], string>> = {
  pending: 'It is not final yet.',
  requires_action: 'It waits for the customer.',
  failed: 'It failed, so no money moved.',
  canceled: 'It was cancelled, so no money moved.',
  rejected: 'The provider rejected it, so no money moved.',
  reversed: 'It was taken back later.',
}

function describeProgress({ kind, state, authorization_released }: Action): string[] {
  if (authorization_released) return ['No money moved.']
  // The title says that a cancellation is over.
  const text =
    state === 'scheduled'
      ? 'The subscription still runs until its scheduled end.'
      : kind === 'refund'
        ? PROGRESS[state]
        : undefined
  return text === undefined ? [] : [text]
}

/** Whether a subscription lasts although its cancellation was seen. */
function describeEffect({ subscription_continues }: Action): string[] {
  if (subscription_continues === undefined) return []
  return [subscription_continues ? 'The subscription continues.' : 'Another cancellation of the subscription followed.']
}

function describeReadBack({ why }: Action): string[] {
  return why?.read_back === 'not_found'
    ? ['The provider reported it, but did not find it when it was asked again.']
    : []
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
