import { setTimeout as sleep } from 'node:timers/promises'
import type { ReconcilerAlone } from './reconciler-alone.ts'
import { makeRefunds } from './refunds.ts'
import { publishSteadily } from './steady-load.ts'

export interface SecondLooks {
  /** Milliseconds from a look's due time to its alert; one per alert, in the order of arrival. */
  readonly lateMs: readonly number[]
  /** Milliseconds from a look's due time to its decision; below zero it was decided too early. */
  readonly decidedMs: readonly number[]
}

/**
 * Publishes unexplained refunds at an even rate, so that their second looks become due at the same rate.
 * @param name of the refunds
 * @param world running
 * @param options `withinMs`: from the last refund to the last alert
 * @returns when all alerts have arrived, each once
 */
export async function watchSecondLooks(
  world: ReconcilerAlone,
  name: string,
  { count, perSecond, withinMs }: { count: number; perSecond: number; withinMs: number },
): Promise<SecondLooks> {
  const lateMs: number[] = []
  const decidedMs: number[] = []
  const alerted = new Set<string>()
  const consumer = world.bus.consumer({
    groupId: `second-looks.${name}`,
    topics: ['alerts'],
    commit: 'accepted',
    async onBatch({ messages }) {
      const nowMs = Date.now()
      for (const { value } of messages) {
        const alert = await world.codec.decode('alert', value)
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
  await publishSteadily(world.tell, count, perSecond, index => refunds[index]!)
  const deadline = performance.now() + withinMs
  while (alerted.size < count) {
    if (performance.now() > deadline) throw new Error(`${alerted.size} of ${count} alerts came within ${withinMs} ms`)
    await sleep(50)
  }
  await consumer.stop()
  return { lateMs, decidedMs }
}
