import type { Alert } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { toOneLine } from './wording.ts'

type IncidentAlert = Extract<Alert, { event: 'incident.opened' | 'incident.resolved' }>

/** The part of the description that depends on what the incident is about. */
export interface IncidentText extends Pick<AlertTexts, 'summary' | 'facts' | 'next'> {
  /** The headline while the incident is open. */
  readonly opened: string
  /** The headline after "Resolved: ". */
  readonly resolved: string
}

/** The texts of an incident that is not about an action. */
export function describeFault({ data: { incident, names } }: IncidentAlert): IncidentText {
  const { code } = incident
  const connection = names?.connection == null ? 'the connection' : `"${toOneLine(names.connection)}"`
  const shared = { summary: asSentence(incident.summary), facts: factsOf(names) }
  switch (code) {
    case 'CHANNEL_DISABLED':
      return {
        ...shared,
        opened: 'An alert channel was disabled',
        resolved: 'the alert channel works again',
        next: {
          sentence: 'Alerts no longer arrive there: repair it, or add another channel.',
          steps: [
            'Open the alert channels in the console, correct what the message above names, and enable the channel again.',
            'Then replay the alerts that did not arrive meanwhile; the console lists them as dead deliveries.',
          ],
        },
      }
    case 'VERIFICATION_UNAVAILABLE':
      return {
        ...shared,
        opened: 'A connection cannot be verified',
        resolved: 'the connection can be verified again',
        next: {
          sentence: `Until this is repaired, alerts about ${connection} come late.`,
          steps: [
            "Check in the provider's dashboard that the read key of this connection still exists and may read.",
            'If it does not: create a new read key there, and in the console save it in the connection.',
          ],
        },
      }
    case 'FEED_SILENT':
      return {
        ...shared,
        opened: "A provider's notifications do not arrive",
        resolved: 'notifications arrive again',
        next: {
          sentence: `Until this is repaired, alerts about ${connection} come late.`,
          steps: [
            "Open the webhook settings in the provider's dashboard: the address must be the one that the console shows for this connection, and it must be switched on.",
            'Have the provider send the failed notifications again, if it offers that.',
          ],
        },
      }
    case 'REFUND_REJECTED':
    case 'UNEXPECTED_ACTION':
      return {
        ...shared,
        opened: code === 'REFUND_REJECTED' ? 'A refund was rejected' : 'Unexplained action',
        resolved: code === 'REFUND_REJECTED' ? 'the rejected refund' : 'the action is explained',
        next: { sentence: 'Open this incident in the console and read why it was opened.', steps: [] },
      }
    default:
      return code satisfies never
  }
}

function factsOf(names: IncidentAlert['data']['names']): IncidentText['facts'] {
  return [
    ...(names?.connection == null ? [] : [{ label: 'Account', value: toOneLine(names.connection) }]),
    ...(names?.project == null ? [] : [{ label: 'Project', value: toOneLine(names.project) }]),
  ]
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
