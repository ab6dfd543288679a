import type { DeliveryJob } from '../jobs/delivery-job.ts'
import type { ChannelLane } from './channel-lane.ts'

/**
 * Takes the jobs that are sent as one digest with the first job of the queue. A job that must be sent alone is taken
 * alone. All jobs of a digest have the same group, and the same addresses of a mail channel that get no further mail.
 */
export function takeDigest(queue: DeliveryJob[], most: number): DeliveryJob[] {
  const [first] = queue
  if (first === undefined) return []
  const group = groupOf(first)
  if (group === null) return queue.splice(0, 1)
  const taken: DeliveryJob[] = []
  const skipped: DeliveryJob[] = []
  /** Incidents with a skipped job: their later messages wait, to keep their order. */
  const busyKeys = new Set<string>()
  for (const job of queue) {
    if (taken.length === most || groupOf(job) === null) break
    if (groupOf(job) === group && !busyKeys.has(job.orderingKey)) taken.push(job)
    else {
      skipped.push(job)
      busyKeys.add(job.orderingKey)
    }
  }
  queue.splice(0, taken.length + skipped.length, ...skipped)
  return taken
}

/** Null for a job that must be sent alone. */
function groupOf({ goesAlone, digestGroup, endedAddresses = [] }: DeliveryJob): string | null {
  if (goesAlone) return null
  const tags = endedAddresses.map(({ tag }) => tag).sort()
  return [digestGroup ?? '', ...new Set(tags)].join()
}

/**
 * Number of jobs searched for a startable job. A longer sequence of jobs of one incident is rare, and waiting is right
 * for it.
 */
const LOOK_AHEAD = 32

/** Takes the first job whose incident has no running job. */
export function takeFirstStartable(queue: DeliveryJob[], lane: ChannelLane): DeliveryJob[] {
  const ahead = Math.min(queue.length, LOOK_AHEAD)
  for (let index = 0; index < ahead; index++) {
    if (!isRunning((queue[index] as DeliveryJob).orderingKey, lane)) return queue.splice(index, 1)
  }
  return []
}

/** Compares with each running job, because they are few and a set of their keys would be made for each attempt. */
function isRunning(orderingKey: string, { active }: ChannelLane): boolean {
  for (const job of active.keys()) if (job.orderingKey === orderingKey) return true
  return false
}
