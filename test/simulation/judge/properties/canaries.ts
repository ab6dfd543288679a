import { type CanaryTruth, type ChannelTruth, type Deed, mayHold } from '../../actors/truth.ts'
import { type AlertBody, type Case, isMadeAfterRecovery, nameOf } from '../evidence.ts'
import type { Property } from '../property.ts'
import { isStillTried, isWatching } from './alerts.ts'

/** Roles are read again after this time, in milliseconds (docs/actors.md). */
const ROLE_IS_KNOWN_AFTER_MS = 2_000
/** From the change to its alert while nothing is broken, in milliseconds. */
const ALERT_WITHIN_MS = 5_000

/** Alerts about what canaries did. */
export const CANARY_PROPERTIES: readonly Property[] = [
  { name: 'canaries-alert-at-once', promise: 'canaries', check: findMissing },
  { name: 'only-canaries-alert-as-such', promise: 'canaries', check: findInvented },
  { name: 'one-incident-for-each-use-of-a-canary', promise: 'canaries', check: findSecondIncidents },
]

/** Each change of a canary alerts, explained or not, and whatever `out_of_band` is. */
function findMissing(run: Case): string[] {
  const { truth, terms } = run
  return truth.canaries.flatMap(canary =>
    truth.deeds
      .filter(
        deed => isBy(canary, deed) && isSurelyCanary(canary, deed, terms.clockMs) && !isHeldBack(deed, terms.endMs),
      )
      .flatMap(deed =>
        truth.channels
          .filter(channel => isWatching(channel, deed) && !isNotified(run, channel, deed))
          .filter(
            channel => !isStillTried(run, channel, body => body.event === 'incident.opened' && isAbout(deed, body)),
          )
          .map(({ host }) => `A canary made ${deed.title} (${deed.ref}), and ${host} was not notified at once`),
      ),
  )
}

function isBy({ projectId, refs }: CanaryTruth, deed: Deed): boolean {
  return deed.projectId === projectId && refs.includes(deed.ref)
}

/** Whether every process knew the role when the change was made. */
function isSurelyCanary({ role }: CanaryTruth, { atMs }: Deed, clockMs: number): boolean {
  return role.toMs !== undefined && role.toMs + ROLE_IS_KNOWN_AFTER_MS + clockMs <= atMs
}

/** Whether a silence or a deleted connection may hold the alert back. */
function isHeldBack({ atMs, grounds, accounts }: Deed, endMs: number): boolean {
  const ofAccounts = accounts.flatMap(account => account.grounds).filter(({ isSetting }) => !isSetting)
  const isSilent = ofAccounts.some(ground => mayHold(ground, { earliestMs: atMs, latestMs: endMs }))
  return isSilent || grounds.some(({ mayHide }) => mayHide)
}

/** Whether a channel got the alert: in time, unless something was broken. */
function isNotified({ alerts, terms, truth }: Case, { host }: ChannelTruth, deed: Deed): boolean {
  const isTimed = isMadeAfterRecovery(terms, deed)
  const latestMs = deed.atMs + ALERT_WITHIN_MS + terms.delayMs + terms.clockMs
  const isRepeated = (id: string) => truth.failedAttempts.some(({ webhookId }) => webhookId === id)
  return alerts.some(({ channel, body, atMs, webhookId }) => {
    // If the incident was resolved before its opening was delivered, one message states both.
    const isOpening = body.event === 'incident.opened' || body.data.supersedes !== undefined
    const isInTime = !isTimed || atMs <= latestMs || isRepeated(webhookId)
    return channel === host && isOpening && isAbout(deed, body) && isInTime
  })
}

function isAbout({ names, projectId }: Deed, { project_id, data }: AlertBody): boolean {
  const isOfProject = data.incident?.code === 'CANARY_USED' && project_id === projectId
  return isOfProject && data.action !== undefined && names.includes(nameOf(data.action))
}

/** No action of another actor, and none from before the role, alerts as one of a canary. */
function findInvented({ alerts, truth }: Case): string[] {
  const used = truth.deeds.filter(deed => truth.canaries.some(canary => isBy(canary, deed)))
  return alerts
    .filter(({ body }) => body.data.incident?.code === 'CANARY_USED' && !used.some(deed => isAbout(deed, body)))
    .map(
      ({ channel, body }) => `${channel} got ${body.id} about ${body.data.action?.provider_ref}, which no canary made`,
    )
}

function findSecondIncidents({ evidence }: Case): string[] {
  const incidents = evidence.projects.flatMap(lists => lists.incidents).filter(({ code }) => code === 'CANARY_USED')
  return [...Map.groupBy(incidents, ({ action_id }) => action_id)].flatMap(([id, own]) =>
    own.length > 1
      ? [`The action ${id} has the incidents ${own.map(({ incident_id }) => incident_id).join(', ')}`]
      : [],
  )
}
