import { type Case, isMadeAfterRecovery, nameOf } from '../evidence.ts'
import type { Property } from '../property.ts'
import { openingsOf } from './alerts.ts'

/** From its second look an alert takes this long at most while nothing is broken, in milliseconds (docs/guarantees.md). */
const ALERT_WITHIN_MS = 5_000
/** If the provider does not answer, all of this time is spent on waiting, and the alert still passes Kafka and MongoDB, in milliseconds. */
const WAY_MS = 200

/** When things happen. */
export const TIME_PROPERTIES: readonly Property[] = [
  { name: 'no-alert-before-its-second-look', promise: 'second-look', check: findEarlyAlerts },
  { name: 'alerts-in-time', promise: 'alert-in-five-seconds', check: findLateAlerts },
]

/** By the true time of the change, and by the time that the product itself states as the first record. */
function findEarlyAlerts({ truth, alerts, terms }: Case): string[] {
  return alerts.flatMap(({ atMs, channel, body: { event, data } }) => {
    if (event !== 'incident.opened' || data.incident?.code !== 'UNEXPECTED_ACTION' || data.action === undefined)
      return []
    const name = nameOf(data.action)
    const madeAtMs = Math.min(...truth.deeds.filter(({ names }) => names.includes(name)).map(deed => deed.atMs))
    // What only a total reports becomes an action when its minute is over ("Totals of a charge" in docs/decisions/explaining.md).
    const seenAtMs = data.action.provider_ref === null ? 0 : Date.parse(data.action.first_seen_at)
    const recordedAtMs = Math.max(seenAtMs, Number.isFinite(madeAtMs) ? madeAtMs : 0)
    const earlyMs = recordedAtMs + terms.secondLookMs - terms.clockMs - atMs
    return earlyMs > 0 ? [`${channel} was notified of ${name} ${earlyMs} ms before its second look`] : []
  })
}

/** After the last fault and the recovery from it, nothing is late. */
function findLateAlerts(run: Case): string[] {
  const { terms, truth } = run
  // A receiver that failed gets the alert five seconds later.
  const isRepeated = (id: string) => truth.failedAttempts.some(({ webhookId }) => webhookId === id)
  const withinMs = terms.delayMs + terms.secondLookMs + ALERT_WITHIN_MS + WAY_MS + terms.clockMs
  return truth.deeds
    .filter(deed => isMadeAfterRecovery(terms, deed))
    .flatMap(deed =>
      openingsOf(run, deed)
        .filter(({ atMs, webhookId }) => atMs > deed.atMs + withinMs && !isRepeated(webhookId))
        .map(({ atMs, channel }) => `${channel} was notified of ${deed.ref} ${atMs - deed.atMs} ms after it was made`),
    )
}
