import { type Alert, showableText } from '@backstop/contracts'
import type { AlertDescription, AlertTexts } from './alert-description.ts'
import { consolePathOf } from './console-path.ts'
import { describeDrift } from './describe-drift.ts'
import { describeIncident } from './describe-incident.ts'
import { describeApproval, describeBudget, describeFailedRun } from './describe-ledger-alert.ts'
import { describeStorm } from './describe-storm.ts'

/**
 * Describes an alert in words. Control characters and direction marks in external texts are replaced by their code
 * points (for example `<U+202E>`), so that they cannot reverse or hide the text around them.
 */
export function describeAlert(alert: Alert): AlertDescription {
  const { title, summary, facts, next, reference, ids, ...rest } = describeByEvent(alert)
  return {
    ...rest,
    path: consolePathOf(alert),
    title: showableText(title),
    summary: showableText(summary),
    facts: facts.map(({ label, value }) => ({ label: showableText(label), value: showableText(value) })),
    next: { sentence: showableText(next.sentence), steps: next.steps.map(showableText) },
    reference: showableText(reference),
    ids: showableText(ids),
  }
}

function describeByEvent(alert: Alert): AlertTexts {
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
        ids: `channel ${alert.data.channel_id}`,
      }
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      return describeIncident(alert)
    case 'drift.detected':
      return describeDrift(alert)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
      return describeApproval(alert)
    case 'cap.threshold':
      return describeBudget(alert)
    case 'run.failed':
      return describeFailedRun(alert)
    case 'storm.reported':
      return describeStorm(alert)
    default:
      return alert satisfies never
  }
}
