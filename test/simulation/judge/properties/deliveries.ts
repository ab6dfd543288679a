import { type AlertBody, type Case, isMadeAfterRecovery, nameOf, type ReceivedAlert } from '../evidence.ts'
import type { Property } from '../property.ts'

/** How alerts reach their receivers. */
export const DELIVERY_PROPERTIES: readonly Property[] = [
  { name: 'one-delivery-for-each-alert', promise: 'repeats', check: findSecondDeliveries },
  { name: 'repeats-are-equal', promise: 'repeats', check: findChangedRepeats },
  { name: 'repeats-follow-lost-answers', promise: 'repeats', check: findNeedlessRepeats },
  { name: 'opened-before-resolved', promise: 'opened-and-resolved', check: findDisorder },
  { name: 'deliveries-end', promise: 'every-channel', check: findUnfinished },
  { name: 'deliveries-are-listed', promise: 'every-channel', check: findUnlisted },
  { name: 'attempts-are-listed-once', promise: 'every-channel', check: findRepeatedAttempts },
  { name: 'alerts-stay-in-their-project', promise: 'projects-are-apart', check: findForeignAlerts },
]

/** Two ids for one alert on one channel. A resolution may report the opening under its own id if the opening was not delivered. */
function findSecondDeliveries({ alerts }: Case): string[] {
  const byNews = Map.groupBy(alerts, ({ channel, body: { event, data, id } }) => {
    const { incident_id, reopened = 0 } = data.incident ?? {}
    return `${event} of ${incident_id === undefined ? id : `${incident_id}/${reopened}`} to ${channel}`
  })
  return [...byNews].flatMap(([news, copies]) => {
    const ids = new Set(copies.map(({ webhookId }) => webhookId))
    return ids.size > 1 ? [`${news} has ${ids.size} deliveries: ${[...ids].join(', ')}`] : []
  })
}

function copiesOf({ alerts }: Case): Map<string, ReceivedAlert[]> {
  return Map.groupBy(alerts, ({ webhookId, channel }) => `${webhookId} to ${channel}`)
}

function findChangedRepeats(run: Case): string[] {
  return [...copiesOf(run)].flatMap(([id, copies]) =>
    new Set(copies.map(({ text }) => text)).size > 1 ? [`Delivery ${id} has two bodies`] : [],
  )
}

function findNeedlessRepeats(run: Case): string[] {
  const { terms } = run
  // Until the recovery from the last fault, something may have broken between an answer and its record.
  const mustBeLast = (alert: ReceivedAlert) => !terms.mayRepeat || isMadeAfterRecovery(terms, alert)
  return [...copiesOf(run)].flatMap(([id, copies]) =>
    copies.slice(0, -1).some(alert => alert.isAnswered && mustBeLast(alert))
      ? [`Delivery ${id} was repeated after its answer`]
      : [],
  )
}

/** A channel is notified of a resolution after the opening, or by a message that states both. */
function findDisorder({ alerts, truth, terms }: Case): string[] {
  const wantsBoth = new Set(
    truth.channels.filter(({ events }) => events.includes('incident.opened')).map(({ host }) => host),
  )
  // A channel that was made after an incident opened is notified of its resolution only.
  const isOlder = (host: string, incident: AlertBody['data']['incident']) => {
    const madeMs = truth.channels.find(channel => channel.host === host)?.begins.toMs ?? 0
    return incident !== undefined && Date.parse(incident.opened_at ?? '') <= madeMs + terms.clockMs
  }
  // Whether an incident opened during a silence that a person ended at that moment depends on the clocks of two processes.
  const opensAsSilenceEnds = (data: AlertBody['data']) => {
    const openedMs = Date.parse(data.incident?.opened_at ?? '')
    return truth.deeds
      .filter(({ names }) => data.action !== undefined && names.includes(nameOf(data.action)))
      .flatMap(({ accounts }) => accounts.flatMap(({ grounds }) => grounds))
      .some(({ ends }) => ends !== undefined && ends.fromMs <= openedMs && openedMs <= (ends.toMs ?? openedMs))
  }
  return alerts.flatMap(({ channel, body: { event, data } }, index) => {
    if (event !== 'incident.resolved' || !wantsBoth.has(channel) || data.supersedes !== undefined) return []
    if (opensAsSilenceEnds(data)) return []
    const isOpening = ({ channel: host, body }: ReceivedAlert) =>
      host === channel &&
      body.event === 'incident.opened' &&
      body.data.incident?.incident_id === data.incident?.incident_id
    return alerts.slice(0, index).some(isOpening) || isOlder(channel, data.incident)
      ? []
      : [`${channel} was notified that ${data.incident?.incident_id} is resolved, and not before that it was opened`]
  })
}

/** Every delivery has ended when the run is at rest, or waits for its next attempt after failures of its receiver. */
function findUnfinished({ evidence, terms }: Case): string[] {
  const dueMs = terms.endMs - terms.clockMs - 5_000
  return evidence.projects.flatMap(({ deliveries }) =>
    deliveries
      .filter(({ state }) => state === 'pending' || state === 'retrying')
      .filter(({ next_attempt_at }) => next_attempt_at === null || Date.parse(next_attempt_at) < dueMs)
      .map(
        ({ delivery_id, state, next_attempt_at }) =>
          `Delivery ${delivery_id} is ${state} and due at ${next_attempt_at}`,
      ),
  )
}

/** No attempt of a delivery is listed twice. */
function findRepeatedAttempts({ evidence }: Case): string[] {
  return evidence.projects.flatMap(({ deliveries }) =>
    deliveries
      .map(({ delivery_id, attempts }) => ({ delivery_id, numbers: attempts.map(({ attempt }) => attempt) }))
      .filter(({ numbers }) => new Set(numbers).size < numbers.length)
      .map(({ delivery_id, numbers }) => `Delivery ${delivery_id} lists the attempts ${numbers.join(', ')}`),
  )
}

/** The list of deliveries shows each message that a receiver got, and no message as delivered that it did not get. */
function findUnlisted({ alerts, evidence, truth }: Case): string[] {
  const listed = evidence.projects.flatMap(({ deliveries }) => deliveries)
  const ids = new Set(listed.map(({ delivery_id }) => delivery_id))
  const got = new Set(alerts.map(({ webhookId }) => webhookId))
  const webhooks = new Set(truth.channels.map(({ channelId }) => channelId))
  return [
    ...[...got].filter(id => !ids.has(id)).map(id => `Delivery ${id} was received, and is not in the list`),
    ...listed
      .filter(
        ({ delivery_id, channel_id, state }) =>
          state === 'delivered' && webhooks.has(channel_id) && !got.has(delivery_id),
      )
      .map(({ delivery_id }) => `Delivery ${delivery_id} is listed as delivered, and its receiver did not get it`),
  ]
}

function findForeignAlerts({ alerts, truth }: Case): string[] {
  return alerts.flatMap(({ channel, text, body: { id, project_id } }) => {
    const own = truth.channels.filter(({ host }) => host === channel).map(({ projectId }) => projectId)
    const others = truth.channels.map(({ projectId }) => projectId).filter(id => !own.includes(id))
    const foreign = others.find(other => text.includes(other))
    if (foreign !== undefined) return [`${channel} got ${id}, which names the project ${foreign}`]
    return own.includes(project_id) ? [] : [`${channel} got ${id} of the project ${project_id}`]
  })
}
