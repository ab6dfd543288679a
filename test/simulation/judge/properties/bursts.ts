import type { AccountTruth, LeakedKey } from '../../actors/truth.ts'
import { type AlertBody, type Case, isMadeAfterRecovery } from '../evidence.ts'
import type { Property } from '../property.ts'
import { isStillTried, isWatching } from './alerts.ts'

/** From the tenth refund of a leaked key to the alert, in milliseconds (docs/guarantees.md). */
const ALERT_WITHIN_MS = 5_000
/** How old refunds of a connection are whose operations say too little about its habits (docs/storms.md). */
const NEW_AGE_MS = 45_000
const BURST_MIN = 10
/** Two alarms of a connection so close to each other are about the same burst. */
const SAME_BURST_MS = 5_000
/** From the last second look to the end of the burst. A run with a leaked key goes on so long after it is at rest. */
export const ENDS_WITHIN_MS = 20_000

/** Which bursts of unexplained changes alert before their second looks. */
export const BURST_PROPERTIES: readonly Property[] = [
  { name: 'bursts-alert-in-time', promise: 'bursts', check: findLateBursts },
  { name: 'one-burst-at-a-time', promise: 'bursts', check: findSecondBursts },
  { name: 'bursts-end', promise: 'bursts', check: findEndless },
]

function findLateBursts(run: Case): string[] {
  return run.truth.leaked
    .filter(leaked => mustAlert(run, leaked))
    .flatMap(leaked => {
      const { connectionId, deeds, account } = leaked
      const tenth = deeds[BURST_MIN - 1]!
      const { terms, truth } = run
      const ageMs = account.acted === undefined ? 0 : NEW_AGE_MS
      const latestMs = tenth.atMs + ageMs + ALERT_WITHIN_MS + terms.delayMs + terms.clockMs
      const isIt = ({ event, data }: AlertBody) => event === 'incident.opened' && isBurstOf(data.incident, connectionId)
      const isRepeated = (id: string) => truth.failedAttempts.some(({ webhookId }) => webhookId === id)
      return truth.channels
        .filter(channel => isWatching(channel, deeds[0]!) && !isStillTried(run, channel, isIt))
        .filter(({ host }) => {
          const got = run.alerts.filter(({ channel, body }) => channel === host && isIt(body))
          return !got.some(({ atMs, webhookId }) => atMs <= latestMs || isRepeated(webhookId))
        })
        .map(({ host }) => `A leaked key made ${deeds.length} refunds, and ${host} was not notified by ${latestMs}`)
    })
}

/** Whether nothing may hide or delay the alarm: no fault, no setting, no burst before. */
function mustAlert(run: Case, { hasAlarm, deeds, account, connectionId }: LeakedKey): boolean {
  const [first] = deeds
  const isPlain = deeds.length >= BURST_MIN && deeds.every(({ grounds }) => grounds.length === 0)
  if (!hasAlarm || !isPlain || first === undefined || account.grounds.length > 0) return false
  const isFirst = !burstsOf(run).some(
    ({ connection_id, opened_at }) => connection_id === connectionId && Date.parse(opened_at) < first.atMs,
  )
  return isFirst && isMadeAfterRecovery(run.terms, first) && !isUsuallyLate(run, account, first.atMs)
}

/**
 * Whether something of a new account was explained so late that its late changes say nothing (docs/storms.md). During the faults the product may
 * learn a report of any delay late.
 */
function isUsuallyLate({ truth, terms }: Case, account: AccountTruth, beforeMs: number): boolean {
  return truth.deeds.some(({ accounts, atMs, grounds }) => {
    const usualMs = isMadeAfterRecovery(terms, { atMs }) ? NEW_AGE_MS : 0
    const isExplainedLate = grounds.some(
      ({ explains, begins }) => explains && (begins.toMs ?? beforeMs) > atMs + usualMs,
    )
    return accounts.includes(account) && atMs < beforeMs && isExplainedLate
  })
}

function findSecondBursts(run: Case): string[] {
  const bursts = burstsOf(run).toSorted((a, b) => Date.parse(a.opened_at) - Date.parse(b.opened_at))
  return [...Map.groupBy(bursts, ({ connection_id }) => connection_id)].flatMap(([connectionId, own]) =>
    own.flatMap((burst, index) => {
      const before = own[index - 1]
      const isSame = before !== undefined && Date.parse(burst.opened_at) - Date.parse(before.opened_at) < SAME_BURST_MS
      return isSame ? [`A burst of ${connectionId} opened ${before.incident_id} and ${burst.incident_id}`] : []
    }),
  )
}

function findEndless(run: Case): string[] {
  const { terms } = run
  // All its actions were seen before it was opened.
  const lookedAtMs = (openedAt: string, lastLookAt = openedAt) =>
    Math.min(Date.parse(openedAt) + terms.secondLookMs, Date.parse(lastLookAt)) + ALERT_WITHIN_MS + terms.clockMs
  return burstsOf(run)
    .filter(
      ({ state, burst, opened_at }) =>
        state !== 'resolved' && lookedAtMs(opened_at, burst?.last_look_at) + ENDS_WITHIN_MS < terms.endMs,
    )
    .filter(({ opened_at }) => isMadeAfterRecovery(terms, { atMs: Date.parse(opened_at) }))
    .map(({ incident_id }) => `The burst ${incident_id} is open after its second looks`)
}

function burstsOf({ evidence }: Case) {
  return evidence.projects.flatMap(({ incidents }) => incidents).filter(({ code }) => code === 'UNEXPLAINED_BURST')
}

function isBurstOf(incident: AlertBody['data']['incident'], connectionId: string): boolean {
  return incident?.code === 'UNEXPLAINED_BURST' && incident.connection_id === connectionId
}
