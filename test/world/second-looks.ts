import { setTimeout as sleep } from 'node:timers/promises'
import type { ReconcilerAlone } from './reconciler-alone.ts'
import { makeRefunds } from './refunds.ts'
import { publishSteadily } from './steady-load.ts'

export interface SecondLooks {
  /** From when a look was due until its alert had come, in milliseconds; one for each alert, in the order of coming. */
  readonly lateMs: readonly number[]
  /** From when a look was due until it was decided, in milliseconds: below zero it was decided too early. */
  readonly decidedMs: readonly number[]
}

/**
 * Lets refunds that nothing explains come at an even pace, so that their second looks are due at the same pace.
 * @param name of the refunds
 * @param world running
 * @param options `withinMs`: from the last refund to the last alert
 * @returns when all alerts have come, none twice
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
