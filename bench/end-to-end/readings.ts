/** Computes the readings of a run from the times of its events. */
import type { ReceivedDelivery } from '@backstop/simulator'
import { actionOf, incidentOf, isOpened, refOf } from '../../test/setup/customer.ts'
import type { SentRefund } from '../../test/setup/installation/load.ts'
import type { Unit } from '../frame/benchmark.ts'
import { percentile } from '../frame/statistics.ts'
import { isInSample, type StoredVerdict } from './verdicts.ts'

export const VERDICT = '200 to stored verdict'
export const ALERT = 'post to alert'
/**
 * The measured times. The parts of a time follow it. The first record of an action is the time at which the reconciler begins the batch
 * with its event.
 */
const TIMES = [
  'post to 200',
  VERDICT,
  '200 to first record',
  'first record to stored verdict',
  ALERT,
  'post to first record of an unexplained action',
  'due second look to decision',
  'decision to alert',
] as const
type Times = Record<(typeof TIMES)[number], number[]>

export const TIME_READINGS: Readonly<Record<string, Unit>> = Object.fromEntries(
  TIMES.flatMap(time => [
    [`${time}, p50`, 'ms'],
    [`${time}, p99`, 'ms'],
  ]),
)

/**
 * @param sent the events of the measured time
 * @param explained the stored verdicts of the sample, by the provider's id of the refund
 * @throws Error if an event has no answer or alert, or, if it is in the sample, no verdict
 */
export function readTimes(
  sent: readonly SentRefund[],
  explained: ReadonlyMap<string, StoredVerdict>,
  deliveries: readonly ReceivedDelivery[],
): Readonly<Record<string, number>> {
  const opened = new Map(deliveries.filter(isOpened).map(delivery => [refOf(delivery), delivery]))
  const times = Object.fromEntries(TIMES.map(time => [time, []])) as unknown as Times
  for (const refund of sent) {
    const ref = `re_${refund.id}`
    const { sentAtMs, acknowledgedAtMs = Number.NaN } = refund
    times['post to 200'].push(acknowledgedAtMs - sentAtMs)
    if (!refund.isExplained) addAlert(times, sentAtMs, opened.get(ref))
    else if (isInSample(refund)) addVerdict(times, acknowledgedAtMs, explained.get(ref))
  }
  return Object.fromEntries(
    TIMES.flatMap(time => {
      if (times[time].some(Number.isNaN)) throw new Error(`An event has no answer, verdict or alert: ${time}`)
      return [
        [`${time}, p50`, percentile(times[time], 0.5)],
        [`${time}, p99`, percentile(times[time], 0.99)],
      ]
    }),
  )
}

function addVerdict(times: Times, acknowledgedAtMs: number, verdict: StoredVerdict | undefined): void {
  const { seenAtMs, firstSeenAtMs } = verdict ?? { seenAtMs: Number.NaN, firstSeenAtMs: Number.NaN }
  times[VERDICT].push(seenAtMs - acknowledgedAtMs)
  times['200 to first record'].push(firstSeenAtMs - acknowledgedAtMs)
  times['first record to stored verdict'].push(seenAtMs - firstSeenAtMs)
}

function addAlert(times: Times, sentAtMs: number, delivery: ReceivedDelivery | undefined): void {
  const action = delivery && actionOf(delivery)
  const dueAtMs = Date.parse(action?.second_look_at ?? '')
  const decidedAtMs = Date.parse((delivery && incidentOf(delivery)?.opened_at) ?? '')
  const receivedAtMs = delivery?.receivedAtMs ?? Number.NaN
  times[ALERT].push(receivedAtMs - sentAtMs)
  times['post to first record of an unexplained action'].push(Date.parse(action?.first_seen_at ?? '') - sentAtMs)
  times['due second look to decision'].push(decidedAtMs - dueAtMs)
  times['decision to alert'].push(receivedAtMs - decidedAtMs)
}
