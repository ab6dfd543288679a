import type { Action, IncidentWithTimeline, StormWithSteps } from '@backstop/client'
import { formatMoney, showableText } from '@backstop/contracts'
import { factsOf, shownTime } from '../output/table.ts'

/** An incident with its timeline and deliveries, for people to read. */
export function incidentText(incident: IncidentWithTimeline): string {
  const { incident_id, code, state, summary, opened_at, action_id, assignee, reason, note, resolved_by } = incident
  const { connection_id, storm_id } = incident
  const optional = (name: string, value: string | null | undefined) =>
    value === null || value === undefined ? [] : [[name, value] as const]
  const facts = factsOf([
    ['Incident', incident_id],
    ['State', state],
    ['Code', code],
    ['Summary', summary],
    ['Opened', shownTime(opened_at)],
    ...optional('Connection', connection_id),
    ...optional('Storm', storm_id),
    ...optional('Action', action_id),
    ...optional('Connected account', incident.action?.account),
    ...optional('Assignee', assignee),
    ...optional('Resolved by', resolved_by),
    ...optional('Reason', reason),
    ...optional('Note', note),
  ])
  const timeline = incident.timeline.map(
    ({ at, text, by }) =>
      `  ${shownTime(at)}  ${showableText(text)}${by === undefined ? '' : ` [${showableText(by.name)}]`}\n`,
  )
  const deliveries = incident.deliveries.map(
    ({ event, channel_id, state, reason }) => `  ${event} to ${channel_id}: ${state} (${reason})\n`,
  )
  return [facts, section('Timeline', timeline), section('Deliveries', deliveries)].filter(Boolean).join('\n')
}

/** The name of the customer, or else the e-mail address or the id at the provider; null if the provider reports none. */
export function customerText({ customer }: Pick<Action, 'customer'>): string | null {
  return customer?.name ?? customer?.email ?? customer?.id ?? null
}

/** A storm with its incidents counted, for people to read. */
export function stormText(storm: StormWithSteps): string {
  const { open, acknowledged, resolved } = storm.incidents
  return factsOf([
    ['Storm', storm.storm_id],
    ['State', storm.state],
    ['Connection', storm.connection_id],
    ['Connected account', storm.account ?? null],
    ['Began', shownTime(storm.began_at)],
    ['Ended', storm.ended_at === null ? 'it goes on' : shownTime(storm.ended_at)],
    ['Incidents', `${open} open, ${acknowledged} acknowledged, ${resolved} resolved`],
    ['Money', storm.money.map(moneyText).join(', ') || null],
  ])
}

function moneyText({ amount, currency, mode }: StormWithSteps['money'][number]): string {
  return `${formatMoney(amount, currency)}${mode === 'test' ? ' of test money' : ''}`
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n${lines.join('')}`
}
