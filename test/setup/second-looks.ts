import { setTimeout as sleep } from 'node:timers/promises'
import type { ReconcilerAlone } from './reconciler-alone.ts'
import { makeRefunds } from './refunds.ts'
import { publishSteadily } from './steady-load.ts'

export interface SecondLooks {
  /** Milliseconds from the due time of each second look to its alert, in the order of arrival. */
  readonly lateMs: readonly number[]
  /**
   * Milliseconds from the due time of each second look to its decision. A negative value means that the decision was too early.
   */
  readonly decidedMs: readonly number[]
}

/**
 * Publishes unexplained refunds at an even rate, so that their second looks become due at the same rate.
 * @param reconciler started before
 * @param name of the refunds
 * @param options `withinMs` is the longest time from the last refund to the last alert
 * @returns the delays, when every alert has arrived
 * @throws Error if an alert arrives twice or not in time
 */
export async function watchSecondLooks(
  reconciler: ReconcilerAlone,
  name: string,
  { count, perSecond, withinMs }: { count: number; perSecond: number; withinMs: number },
): Promise<SecondLooks> {
  const lateMs: number[] = []
  const decidedMs: number[] = []
  const alerted = new Set<string>()
  const consumer = reconciler.bus.consumer({
    groupId: `second-looks.${name}`,
    topics: ['alerts'],
    commit: 'accepted',
    async onBatch({ messages }) {
      const nowMs = Date.now()
      for (const { value } of messages) {
        const alert = await reconciler.codec.decode('alert', value)
        if (alert.event !== 'incident.opened' || !alert.data.action?.provider_ref?.startsWith(`re_${name}`)) continue
        const dueAtMs = Date.parse(alert.data.action.second_look_at ?? '')
        if (alerted.has(alert.alert_id)) throw new Error(`${alert.alert_id} came twice`)
        alerted.add(alert.alert_id)
        lateMs.push(nowMs - dueAtMs)
        decidedMs.push(Date.parse(alert.data.incident.opened_at) - dueAtMs)
      }
      return { accepted: messages.length }
    },
    onFatal: error => {
      throw error
    },
  })
  await consumer.start()
  const refunds = makeRefunds(name, count).map(refund => ({ ...refund, isExplained: false }))
  await publishSteadily(reconciler.publishEvents, count, perSecond, index => refunds[index]!)
  const deadline = performance.now() + withinMs
  while (alerted.size < count) {
    if (performance.now() > deadline) throw new Error(`${alerted.size} of ${count} alerts came within ${withinMs} ms`)
    await sleep(50)
  }
  await consumer.stop()
  return { lateMs, decidedMs }
}
