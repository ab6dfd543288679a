import type { ChannelLane } from './channel-lane.ts'
import type { DeliveryJob } from './delivery-job.ts'

/** Takes the first jobs of the queue that may be sent as one digest; a job that must be sent alone is taken alone. */
export function takeDigest(queue: DeliveryJob[], most: number): DeliveryJob[] {
  const alone = queue.findIndex(job => job.goesAlone)
  return queue.splice(0, alone === -1 ? most : Math.min(most, Math.max(alone, 1)))
}

/**
 * Number of jobs searched for a startable job. A longer sequence of jobs of one incident is rare, and waiting is right
 * for it.
 */
const LOOK_AHEAD = 32

/** Takes the first job whose incident has no running job. */
export function takeFirstStartable(queue: DeliveryJob[], { active }: ChannelLane): DeliveryJob[] {
  const busyKeys = new Set([...active.keys()].map(job => job.orderingKey))
  const ahead = Math.min(queue.length, LOOK_AHEAD)
  for (let index = 0; index < ahead; index++) {
    if (!busyKeys.has((queue[index] as DeliveryJob).orderingKey)) return queue.splice(index, 1)
  }
  return []
}
