import { type Alert, showableText } from '@backstop/contracts'
import type { AlertDescription, AlertTexts, MessageAct } from './alert-description.ts'
import { consolePathOf } from './console-path.ts'
import { describeDrift } from './describe-drift.ts'
import { describeIncident } from './describe-incident.ts'
import { describeApproval, describeBudget, describeFailedRun } from './describe-ledger-alert.ts'
import { describeStorm, endsStorm } from './describe-storm.ts'
import { type Reader, withReadableTimes } from './times.ts'

/**
 * Describes an alert in words. Control characters and direction marks in external texts are replaced by their code
 * points (for example `<U+202E>`), so that they cannot reverse or hide the text around them.
 */
export function describeAlert(alert: Alert, { timeZone, nowMs }: Reader): AlertDescription {
  const { title, summary, facts, next, reference, ...rest } = describeByEvent(alert, nowMs)
  const shown = (text: string) => withReadableTimes(showableText(text), timeZone)
  return {
    ...rest,
    path: consolePathOf(alert),
    acts: actsOf(alert),
    title: shown(title),
    summary: shown(summary),
    facts: facts.map(({ label, value }) => ({ label: shown(label), value: shown(value) })),
    next: { sentence: shown(next.sentence), steps: next.steps.map(shown) },
    reference: showableText(reference),
  }
}

/** What a person can decide about an open incident or storm. "This was us" is said about refunds and cancellations, and connections are silenced. */
function actsOf({ data }: Alert): MessageAct[] {
  if ('storm' in data)
    return data.storm.unacknowledged === 0 || endsStorm(data.storm) ? [] : ['acknowledge', 'ours', 'silence']
  if (!('incident' in data) || data.incident.state !== 'open') return []
  const { action_id, connection_id } = data.incident
  return [
    'acknowledge',
    ...(action_id === null ? [] : (['ours'] as const)),
    ...(connection_id === null ? [] : (['silence'] as const)),
  ]
}

function describeByEvent(alert: Alert, nowMs: number): AlertTexts {
  switch (alert.event) {
    case 'channel.test':
      return {
        title: 'Test of this alert channel',
        summary: `${alert.data.text}.`,
        facts: [],
        next: { sentence: 'Nothing happened, and there is nothing to do.', steps: [] },
        tone: 'neutral',
        providerUrl: null,
        reference: alert.data.channel_id,
      }
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      return describeIncident(alert, nowMs)
    case 'drift.detected':
      return describeDrift(alert, nowMs)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return describeApproval(alert, nowMs)
    case 'cap.threshold':
      return describeBudget(alert)
    case 'run.failed':
      return describeFailedRun(alert, nowMs)
    case 'storm.reported':
      return describeStorm(alert)
    default:
      return alert satisfies never
  }
}
