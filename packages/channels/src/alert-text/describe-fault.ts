import type { Alert, IncidentEvent } from '@backstop/contracts'
import type { AlertTexts } from './alert-description.ts'
import { factsIn, oneLineOrNull, toOneLine } from './wording.ts'

type IncidentAlert = Extract<Alert, { event: IncidentEvent }>

/** The part of the description that depends on what the incident is about. */
export interface IncidentText extends Pick<AlertTexts, 'summary' | 'next'> {
  /** What is known besides the facts of the action. */
  readonly facts?: AlertTexts['facts']
  /** The headline while the incident is open. */
  readonly opened: string
  /** The headline after "Resolved: ". */
  readonly resolved: string
}

/** The headlines of incidents about an action that is not shown. */
const HEADLINES = {
  REFUND_REJECTED: { opened: 'A refund was rejected', resolved: 'the rejected refund' },
  CANARY_USED: { opened: 'A canary was used', resolved: 'the use of a canary' },
  REFUNDED_TWICE: { opened: 'A payment was refunded twice', resolved: 'the second refund' },
  UNEXPLAINED_BURST: { opened: 'Many unexplained actions', resolved: 'the unexplained actions' },
  UNEXPECTED_ACTION: { opened: 'Unexplained action', resolved: 'the action is explained' },
} as const

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
          sentence: 'Fix this channel in the console and turn it back on. Until then, it gets no alerts.',
          steps: [
            'Open the alert channels in the console, correct the fault that is named above, and switch the channel on again.',
            'Then send the alerts again that did not arrive in the meantime. The console lists them under this channel.',
          ],
        },
      }
    case 'CHANNEL_FAILING':
      return {
        ...shared,
        opened: 'An alert channel delivers nothing',
        resolved: 'the failing alert channel',
        next: {
          sentence: 'Fix this channel in the console. Until then, it alerts nobody.',
          steps: [
            'Open the alert channels in the console, and remove the cause that is named above: repair the receiver, set other addresses, or remove a suppression.',
            'Look at the open incidents. Backstop sends failed alerts again for 72 hours, but not those that nobody could receive: select these in the console and send them again.',
          ],
        },
      }
    case 'VERIFICATION_UNAVAILABLE':
      return {
        ...shared,
        opened: `Notifications of ${connection} cannot be checked`,
        resolved: `notifications of ${connection} can be checked again`,
        next: {
          sentence: "Check Backstop's API key at the provider. Until it works, alerts are late.",
          steps: [
            "Check in the provider's dashboard that the API key with which Backstop reads this account still exists and may read.",
            'If it does not: create a new key there, and in the console save it in the settings of the connection.',
          ],
        },
      }
    case 'FEED_SILENT':
      return {
        ...shared,
        opened: `Notifications of ${connection} do not arrive`,
        resolved: `notifications of ${connection} arrive again`,
        next: {
          sentence: `Check the webhook of ${connection} in the provider's dashboard. Until it works, alerts are late.`,
          steps: [
            "Open the webhook settings in the provider's dashboard: it must be on, send the events named above, and have the address that the console shows for this connection.",
            'Send the failed notifications again there, if the dashboard offers it.',
          ],
        },
      }
    case 'KEY_EXPIRING':
      return {
        ...shared,
        opened: 'An API key expires soon',
        resolved: 'the warning about an API key',
        next: {
          sentence: 'From that time on, requests of the software that uses this key are refused.',
          steps: [
            'Open the API keys in the console and rotate this key. The old key is accepted until the overlap ends.',
            'Give the new key to the software that uses the old one. If nothing uses it any more, revoke it.',
          ],
        },
      }
    case 'KEY_RECOVERED':
      return {
        ...shared,
        opened: 'An admin key was recovered',
        resolved: 'the recovered admin key',
        next: {
          sentence:
            'Whoever has this key can read and change everything. Anybody with access to the database can make one.',
          steps: [
            'Ask the person who is named above whether they ran `backstop keys recover`, and why.',
            'If nobody did: revoke the key in the console, and find out who has access to the database.',
          ],
        },
      }
    case 'CANARY_USED':
    case 'REFUND_REJECTED':
    case 'REFUNDED_TWICE':
    case 'UNEXPLAINED_BURST':
    case 'UNEXPECTED_ACTION':
      return {
        ...shared,
        ...HEADLINES[code],
        next: { sentence: 'Open this incident in the console, and read why it was opened.', steps: [] },
      }
    default:
      return code satisfies never
  }
}

function factsOf(names: IncidentAlert['data']['names']): AlertTexts['facts'] {
  return factsIn([['Project', oneLineOrNull(names?.project)]])
}

function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
