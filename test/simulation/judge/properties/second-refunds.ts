import type { DoubledRefund } from '../../actors/truth.ts'
import { type AlertBody, type Case, nameOf } from '../evidence.ts'
import type { Property } from '../property.ts'
import { isStillTried, isWatching } from './alerts.ts'

/** Which second refunds of software alert. */
export const SECOND_REFUND_PROPERTIES: readonly Property[] = [
  { name: 'second-refunds-alert-once', promise: 'refunded-twice', check: findWrongAlerts },
]

function findWrongAlerts(run: Case): string[] {
  const invented = run.alerts
    .filter(({ body }) => isRepeat(body) && !run.truth.doubled.some(pair => isAbout(pair)(body)))
    .map(({ channel, body }) => `${channel} got ${body.id} about a refund that was made once`)
  return [...invented, ...run.truth.doubled.flatMap(pair => judgePair(run, pair))]
}

function judgePair(run: Case, pair: DoubledRefund): string[] {
  const { alerts, truth } = run
  const name = pair.deeds.map(({ ref }) => ref).join(' and ')
  const isIt = isAbout(pair)
  const announced = alerts.filter(
    ({ body }) => isIt(body) && (body.event === 'incident.opened' || body.data.supersedes !== undefined),
  )
  if (!pair.hasRule) return announced.length === 0 ? [] : [`${name} alerted without the rule`]
  const ids = new Set(announced.map(({ body }) => body.data.incident?.incident_id))
  if (ids.size > 1 && countStanding(run, ids) > 1) return [`${name} opened ${ids.size} incidents`]
  if (!isPlain(pair)) return []
  return truth.channels
    .filter(
      channel => isWatching(channel, pair.deeds[1]) && !announced.some(({ channel: host }) => host === channel.host),
    )
    .filter(channel => !isStillTried(run, channel, body => isIt(body) && body.event === 'incident.opened'))
    .map(({ host }) => `${name} were made twice, and ${host} was not notified`)
}

/** Incidents of these that did not end by themselves. */
function countStanding({ evidence }: Case, ids: ReadonlySet<string | undefined>): number {
  const own = evidence.projects.flatMap(({ incidents }) => incidents.filter(({ incident_id }) => ids.has(incident_id)))
  return own.filter(({ state, reason }) => state !== 'resolved' || reason != null).length
}

/** Whether nothing may hide the alert: no silence, no setting, no deleted connection. */
function isPlain({ deeds }: DoubledRefund): boolean {
  return deeds.every(
    ({ grounds, accounts }) =>
      grounds.every(({ mayHide }) => mayHide !== true) && accounts.every(account => account.grounds.length === 0),
  )
}

const isRepeat = ({ data }: AlertBody) => data.incident?.code === 'REFUNDED_TWICE'

function isAbout({ deeds }: DoubledRefund): (body: AlertBody) => boolean {
  const [{ projectId }] = deeds
  const refs = deeds.map(({ ref }) => ref)
  return body =>
    isRepeat(body) &&
    body.project_id === projectId &&
    body.data.action !== undefined &&
    refs.includes(nameOf(body.data.action))
}
