import type { Action, Alert, Incident } from '@backstop/contracts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { isTestBurst } from '../alert-text/describe-burst.ts'
import { linksOf } from '../alert-text/links.ts'
import type { MessageSetting } from '../channel.ts'
import { cutText } from '../cut-text.ts'

/** An event of the Events API v2, without the routing key (https://developer.pagerduty.com/docs/send-alert-event). */
export type PagerDutyEvent =
  | PagerDutyTrigger
  | { readonly event_action: 'acknowledge' | 'resolve'; readonly dedup_key: string }

export interface PagerDutyTrigger {
  readonly event_action: 'trigger'
  /** PagerDuty adds events with the same key to the alert that is open, and drops the others if none is open. */
  readonly dedup_key: string
  readonly client: string
  readonly client_url?: string
  readonly links: readonly { readonly href: string; readonly text: string }[]
  readonly payload: {
    readonly summary: string
    readonly source: string
    readonly severity: PagerDutySeverity
    readonly timestamp: string
    readonly component: string
    readonly group: string
    readonly class: string
    readonly custom_details: Readonly<Record<string, string>>
  }
}

export type PagerDutySeverity = 'critical' | 'error' | 'warning' | 'info'

/**
 * Limits in characters: PagerDuty's own for the summary, and ours for the details, so that an event stays far below
 * 512 KB (https://developer.pagerduty.com/docs/events-api-v2-overview).
 */
const LIMITS = { summary: 1024, source: 255, detail: 4000 } as const

/**
 * Creates the event for one alert. An acknowledged incident is an `acknowledge`, and a resolved one a `resolve`, with the key of its opening. If the
 * opening was not delivered, PagerDuty drops them, so nobody is woken for an incident that somebody works on or that is over.
 */
export function pagerDutyEvent(alert: Alert, { publicUrl, brandName, reader }: MessageSetting): PagerDutyEvent {
  const dedup_key = dedupKeyOf(alert)
  if (endsAlert(alert)) return { event_action: 'resolve', dedup_key }
  if (isAcknowledged(alert)) return { event_action: 'acknowledge', dedup_key }
  const description = describeAlert(alert, reader)
  const links = linksOf(description, publicUrl)
  const [first] = links
  return {
    event_action: 'trigger',
    dedup_key,
    client: brandName,
    ...(first === undefined ? {} : { client_url: first.url }),
    links: links.map(({ url, text }) => ({ href: url, text })),
    payload: {
      summary: cutText(description.title, LIMITS.summary),
      source: cutText(sourceOf(alert), LIMITS.source),
      severity: severityOf(alert),
      timestamp: alert.created_at,
      component: componentOf(alert),
      group: alert.project_id,
      class: classOf(alert),
      custom_details: detailsOf([
        { label: 'Summary', value: description.summary },
        ...description.facts,
        { label: 'Next', value: description.next.sentence },
      ]),
    },
  }
}

/** True if nothing is left to do about the incident or the storm. */
function endsAlert({ event, data }: Alert): boolean {
  return event === 'incident.resolved' || ('storm' in data && data.storm.resolved === data.storm.count)
}

/** True if somebody works on the incident, or on every open incident of the storm. */
function isAcknowledged({ event, data }: Alert): boolean {
  return event === 'incident.acknowledged' || ('storm' in data && data.storm.unacknowledged === 0)
}

/**
 * The key of the PagerDuty alert, at most 255 characters. Alerts about one incident, one storm with its bursts, one approval or one
 * period of a budget share a key.
 */
function dedupKeyOf(alert: Alert): string {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      return keyOfIncident(alert.data.incident)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return `approval:${alert.data.operation.operation_id}`
    case 'cap.threshold':
      return `budget:${alert.data.budget.budget_id}:${alert.data.current.starts_at}`
    case 'storm.reported':
      return alert.data.storm.storm_id
    case 'drift.detected':
    case 'run.failed':
    case 'channel.test':
      return alert.alert_id
    default:
      return alert satisfies never
  }
}

/** A burst and the reports of its storm are one alert. */
function keyOfIncident({ incident_id, burst, storm_id }: Incident): string {
  return burst === undefined ? incident_id : (storm_id ?? incident_id)
}

/** The urgency of an alert. Money that left without an explanation is critical. */
export function severityOf(alert: Alert): PagerDutySeverity {
  switch (alert.event) {
    case 'incident.opened':
      return severityOfIncident(alert.data.incident, alert.data.action)
    case 'storm.reported':
      return alert.data.storm.mode === 'test' || alert.data.storm.state === 'ended' ? 'info' : 'critical'
    case 'drift.detected':
    case 'run.failed':
      return 'error'
    case 'cap.threshold':
      return alert.data.percent >= 100 ? 'error' : 'warning'
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return 'warning'
    case 'incident.acknowledged':
    case 'incident.resolved':
    case 'channel.test':
      return 'info'
    default:
      return alert satisfies never
  }
}

function severityOfIncident({ code, burst }: Incident, action: Action | null): PagerDutySeverity {
  if (burst !== undefined) return isTestBurst(burst) ? 'info' : 'critical'
  if (code === 'CANARY_USED') return 'critical'
  if (action?.mode === 'test') return 'info'
  if (code !== 'UNEXPECTED_ACTION') return 'error'
  const movedNothing = action?.kind === 'refund' && (action.state === 'failed' || action.state === 'canceled')
  return movedNothing || action?.subscription_continues === true ? 'warning' : 'critical'
}

/** The place of the problem: the connection to the provider, or else the project. */
function sourceOf(alert: Alert): string {
  const { data, project_id } = alert
  const named = 'names' in data ? (data.names?.connection ?? data.names?.project) : undefined
  if (named != null) return named
  const of =
    'incident' in data ? data.incident : 'operation' in data ? data.operation : 'storm' in data ? data.storm : undefined
  return of?.connection_id ?? project_id
}

function componentOf({ data, event }: Alert): string {
  if ('action' in data && data.action !== null) return data.action.provider
  if ('incident' in data && data.incident.burst !== undefined) return data.incident.burst.provider
  if ('operation' in data) return data.operation.provider
  if ('storm' in data) return data.storm.provider
  return event.slice(0, event.indexOf('.'))
}

function classOf({ data, event }: Alert): string {
  return 'incident' in data ? data.incident.code : event
}

/** PagerDuty shows the details as a table. Facts with the same label share one row. */
function detailsOf(facts: readonly { label: string; value: string }[]): Record<string, string> {
  const rows = Map.groupBy(facts, ({ label }) => label)
  return Object.fromEntries(
    [...rows].map(([label, values]) => [label, cutText(values.map(({ value }) => value).join('\n'), LIMITS.detail)]),
  )
}
