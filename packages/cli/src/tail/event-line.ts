import { formatMoney, kindWords, showableText } from '@backstop/contracts'

/** What an event of the stream says, in one line for people. */
export function eventLine(event: string, data: Readonly<Record<string, unknown>>): string {
  return showableText(`${event.padEnd(10)}  ${describe(event, data)}`)
}

function describe(event: string, data: Readonly<Record<string, unknown>>): string {
  const text = (name: string) => String(data[name] ?? '-')
  switch (event) {
    case 'incident':
      return `${text('incident_id')} ${text('state')}: ${text('summary')}`
    case 'action': {
      const amount = typeof data.amount === 'number' ? formatMoney(data.amount, String(data.currency)) : null
      const kind =
        data.authorization_released === true ? kindWords({ kind: '', authorization_released: true }) : text('kind')
      return `${text('action_id')} ${kind}${amount === null ? '' : ` of ${amount}`} on ${text('subject')}: ${text('verdict')} (${text('reason')})`
    }
    case 'delivery':
      return `${text('delivery_id')} ${text('event')} to ${text('channel_id')}: ${text('state')}`
    case 'connection':
      return `${text('connection_id')} ${text('name')}: ${data.deleted_at === undefined ? text('status') : 'deleted'}`
    case 'channel':
      return `${text('channel_id')} ${text('name')}: ${data.deleted_at === undefined ? healthOf(data) : 'deleted'}`
    case 'reset':
      return 'changes may be missing: list the resources again'
    default:
      return JSON.stringify(data)
  }
}

function healthOf({ enabled, health }: Readonly<Record<string, unknown>>): string {
  return enabled === false ? 'disabled' : String((health as { state?: unknown } | undefined)?.state ?? '-')
}
