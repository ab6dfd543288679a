import { type ChannelTruth, type Deed, expectationOf, isExplained } from '../../actors/truth.ts'
import { type AlertBody, type Case, isMadeAfterRecovery, nameOf, type ReceivedAlert } from '../evidence.ts'
import type { Property } from '../property.ts'

/** Which changes alert. */
export const ALERT_PROPERTIES: readonly Property[] = [
  { name: 'unexplained-changes-alert', promise: 'every-event-is-judged', check: findSilence },
  { name: 'explained-changes-are-silent', promise: 'one-verdict-one-alert', check: findFalseAlerts },
  { name: 'alerts-are-about-changes', promise: 'one-verdict-one-alert', check: findInventedAlerts },
  { name: 'one-incident-for-each-change', promise: 'one-verdict-one-alert', check: findSecondIncidents },
  { name: 'explanations-resolve', promise: 'one-verdict-one-alert', check: findOpenIncidents },
]

/** The alerts that an unexplained action was opened, of one change. */
export function openingsOf({ alerts }: Pick<Case, 'alerts'>, deed: Deed): ReceivedAlert[] {
  return alertsAbout(alerts, deed).filter(({ body }) => body.event === 'incident.opened')
}

function alertsAbout(alerts: Case['alerts'], deed: Deed): ReceivedAlert[] {
  const isIt = isAlertAbout(deed)
  return alerts.filter(({ body }) => isIt(body))
}

/** @param wanted the event; every event if undefined */
function isAlertAbout({ names, projectId }: Deed, wanted?: string): (body: AlertBody) => boolean {
  return ({ event, project_id, data }) =>
    (wanted === undefined || event === wanted) &&
    project_id === projectId &&
    data.incident?.code === 'UNEXPECTED_ACTION' &&
    data.action !== undefined &&
    names.includes(nameOf(data.action))
}

/** What the product has to do about a change whose second look is some time between the first possible one and `latestMs`. */
function expectation({ terms }: Case, deed: Deed, latestMs = terms.endMs): ReturnType<typeof expectationOf> {
  const earliestMs = deed.atMs + terms.secondLookMs - terms.clockMs
  return expectationOf(deed, { earliestMs, latestMs: Math.max(earliestMs, latestMs) })
}

/**
 * Whether an alert is about what one account alone shows of a refund that two accounts show. Until the biller has answered, because its
 * notifications are not signed, and the processor has named the refund, nothing says that they are one refund. Meanwhile each is judged by
 * itself: a signed refund alerts whether or not a provider answers, and so does one that only a total proves (docs/guarantees.md).
 */
function isOfOneAccount(run: Case, deed: Deed, { body }: ReceivedAlert): boolean {
  const isAlone = deed.accounts.length > 1 && body.data.action?.connection_ids.length === 1
  return isAlone && !isMadeAfterRecovery(run.terms, deed)
}

function describe({ title, ref }: Deed): string {
  return `${title} (${ref})`
}

/** The alerts that state the opening. If the incident was resolved before its opening was delivered, one message states both. */
export function announcementsOf({ alerts }: Case, deed: Deed): ReceivedAlert[] {
  return alertsAbout(alerts, deed).filter(
    ({ body: { event, data } }) => event === 'incident.opened' || data.supersedes !== undefined,
  )
}

function findSilence(run: Case): string[] {
  return run.truth.deeds.flatMap(deed => {
    if (run.truth.capped.some(({ deeds }) => deeds.includes(deed)) || expectation(run, deed) !== 'alert') return []
    const openings = announcementsOf(run, deed)
    return run.truth.channels
      .filter(channel => isWatching(channel, deed) && !openings.some(({ channel: host }) => host === channel.host))
      .filter(channel => !isStillTried(run, channel, isAlertAbout(deed, 'incident.opened')))
      .map(({ host }) => `${describe(deed)} is unexplained, and ${host} was not notified`)
  })
}

/** Whether a channel works from before a change until the end, and wants openings. */
export function isWatching({ projectId, begins, ends, events }: ChannelTruth, deed: Deed): boolean {
  const isOpen = begins.toMs !== undefined && begins.toMs <= deed.atMs && ends === undefined
  return isOpen && projectId === deed.projectId && events.includes('incident.opened')
}

/** Whether the receiver of a channel failed at this alert so often that its next attempt is after the end of the run. */
export function isStillTried(
  { evidence, terms, truth }: Case,
  { host, channelId }: ChannelTruth,
  isIt: (body: AlertBody) => boolean,
): boolean {
  const failed = new Set(
    truth.failedAttempts
      .filter(({ channel, body }) => channel === host && isIt(JSON.parse(body)))
      .map(({ webhookId }) => webhookId),
  )
  return evidence.projects.some(({ deliveries }) =>
    deliveries.some(
      ({ delivery_id, channel_id, state, next_attempt_at }) =>
        channel_id === channelId &&
        failed.has(delivery_id) &&
        state === 'retrying' &&
        next_attempt_at !== null &&
        Date.parse(next_attempt_at) > terms.endMs - terms.clockMs,
    ),
  )
}

function findFalseAlerts(run: Case): string[] {
  return run.truth.deeds
    .filter(deed =>
      openingsOf(run, deed).some(alert =>
        deed.hasVerdict
          ? // What ended before the alert, as a silence, must have held at its second look all the same.
            expectation(run, shownBy(run, deed, alert), alert.atMs + run.terms.clockMs) === 'silence'
          : !isLatePaymentUnknown(run, deed, alert),
      ),
    )
    .map(deed => `${describe(deed)} is explained, and people were alerted`)
}

/**
 * Whether ingress got the first notification of a late payment only after the second look of the end that followed. The reseller does not say
 * why it ended a subscription: without the late payment the end is a cancellation like any other (docs/decisions/reseller.md).
 */
function isLatePaymentUnknown({ truth, terms }: Case, { ref }: Deed, { body }: ReceivedAlert): boolean {
  const shown = truth.accepted.filter(({ latePaymentOf }) => latePaymentOf === ref).map(({ atMs }) => atMs)
  const lookMs = Date.parse(body.data.action?.first_seen_at ?? '') + terms.secondLookMs
  return shown.length > 0 && Math.min(...shown) > lookMs - terms.clockMs
}

/**
 * A change as an alert shows it. What software and people say names the refund of the first account, not that of the other one, and not a
 * refund that only a total proves.
 */
function shownBy(run: Case, deed: Deed, alert: ReceivedAlert): Deed {
  const { provider, provider_ref } = alert.body.data.action ?? {}
  const isUnnamed = provider !== deed.accounts[0]?.kind || provider_ref === null
  return isUnnamed && isOfOneAccount(run, deed, alert) ? { ...deed, grounds: [] } : deed
}

/** An alert about a change that was never made, or about a change of another kind than refunds and cancellations. */
function findInventedAlerts({ alerts, truth }: Case): string[] {
  const names = new Set(truth.deeds.flatMap(({ projectId, names }) => names.map(name => `${projectId}/${name}`)))
  return alerts.flatMap(({ channel, body: { event, project_id, data } }) => {
    if (data.incident?.code !== 'UNEXPECTED_ACTION') return []
    if (data.action === undefined)
      return [`${channel} got ${event} about ${data.incident.incident_id} without its action`]
    const name = nameOf(data.action)
    return names.has(`${project_id}/${name}`) ? [] : [`${channel} got ${event} about ${name}, which was never made`]
  })
}

/** Two accounts may open an incident each before their refunds are known as one. Then one of both is resolved. */
function findSecondIncidents(run: Case): string[] {
  return run.truth.deeds.flatMap(deed => {
    const openings = openingsOf(run, deed)
    const incidents = new Set(openings.map(({ body }) => body.data.incident?.incident_id))
    const isApart = openings.every(alert => isOfOneAccount(run, deed, alert))
    const allowed = isApart ? new Set(openings.map(({ body }) => body.data.action?.provider)).size : 1
    if (incidents.size > allowed) return [`${describe(deed)} opened ${incidents.size} incidents`]
    const open = run.evidence.projects
      .flatMap(lists => lists.incidents)
      .filter(({ incident_id, state }) => incidents.has(incident_id) && state !== 'resolved')
    return open.length > 1 ? [`${describe(deed)} has ${open.length} open incidents`] : []
  })
}

/** An alert of a change that is explained afterwards is resolved, on each channel that was notified of it. */
function findOpenIncidents(run: Case): string[] {
  return run.truth.deeds
    .filter(deed => isExplained(deed) && !isHalfHidden(run, deed))
    .flatMap(deed => {
      const about = alertsAbout(run.alerts, deed)
      const resolved = new Set(
        about.filter(({ body }) => body.event === 'incident.resolved').map(({ channel }) => channel),
      )
      const hosts = new Set(openingsOf(run, deed).map(({ channel }) => channel))
      return run.truth.channels
        .filter(
          ({ host, ends, events }) => hosts.has(host) && ends === undefined && events.includes('incident.resolved'),
        )
        .filter(channel => !resolved.has(channel.host) && !isStillTried(run, channel, isAlertAbout(deed)))
        .map(({ host }) => `${describe(deed)} is explained since its alert, and ${host} was not notified`)
    })
}

/**
 * Whether the product may know a change without the id by which an operation names it: one of two accounts never showed it, or its own
 * notification was lost and only a total proves it. By its amount it is explained a quarter of an hour later.
 */
function isHalfHidden(run: Case, deed: Deed): boolean {
  const isUnnamed = () => openingsOf(run, deed).some(({ body }) => body.data.action?.provider_ref === null)
  return deed.grounds.some(({ mayHide }) => mayHide) && (deed.accounts.length > 1 || isUnnamed())
}
