import type { DeliveryRequest } from '@backstop/contracts'
import { type Clock, crashPoint, type Logger } from '@backstop/kit'
import type { DeliveryJob } from '../queue/delivery-job.ts'
import type { DeliveryProgress, DeliveryStore, SupersedeOrder } from '../store/delivery-store.ts'
import { announceBoth, comesAfter, decideIncidentOrder } from './rules/decide-order.ts'

export interface IncidentOrderOptions {
  readonly deliveries: DeliveryStore
  readonly clock: Clock
  readonly logger: Logger
  /** Resolves when the attempt of this delivery that just ended here is on record; at once when there is none. */
  untilRecorded(deliveryId: string): Promise<void>
}

/** What is to be sent for a job. */
export interface Sendable {
  readonly job: DeliveryJob
  /** The job's, or one that tells more. */
  readonly request: DeliveryRequest
}

export interface OrderedJobs {
  readonly sendable: readonly Sendable[]
  /** A later message has told these: nothing is left to do for them. */
  readonly superseded: readonly DeliveryJob[]
}

/**
 * Puts the messages about one incident in order (DESIGN, "Delivering"). Jobs of one incident never run at the same time
 * (`ChannelQueues`), so what is read here stands until these jobs have ended. Most jobs need no read.
 * @throws AppError `unavailable` when the order could not be found out; nothing was sent
 */
export async function orderIncidents(
  jobs: readonly DeliveryJob[],
  options: IncidentOrderOptions,
): Promise<OrderedJobs> {
  const before = new Map(jobs.map(job => [job, comesAfter(job.request.alert, job.request.channel_id)]))
  const openedIds = [...before.values()].filter(id => id !== undefined)
  const rechecked = jobs.filter(job => job.isKnown && job.request.alert.event === 'incident.opened')
  if (openedIds.length + rechecked.length === 0) {
    return { sendable: jobs.map(job => ({ job, request: job.request })), superseded: [] }
  }
  await Promise.all(openedIds.map(id => options.untilRecorded(id)))
  const progress = await supersedeOpened(before, rechecked, options)
  const superseded = jobs.filter(job => progress.get(job.request.delivery_id)?.state === 'superseded')
  const sendable = jobs
    .filter(job => !superseded.includes(job))
    .map(job => {
      const openedId = before.get(job)
      const tellsBoth = openedId !== undefined && progress.get(openedId)?.state === 'superseded'
      return { job, request: tellsBoth ? { ...job.request, alert: announceBoth(job.request.alert) } : job.request }
    })
  return { sendable, superseded }
}

/** Two processes may have one channel at hand for the moment of a rebalance: who loses looks again, this often. */
const MAX_ROUNDS = 5

/** Ends what is superseded. @returns how everything that matters stands then */
async function supersedeOpened(
  before: ReadonlyMap<DeliveryJob, string | undefined>,
  rechecked: readonly DeliveryJob[],
  { deliveries, clock, logger }: IncidentOrderOptions,
): Promise<ReadonlyMap<string, DeliveryProgress>> {
  const ids = [...before.values(), ...rechecked.map(job => job.request.delivery_id)].filter(id => id !== undefined)
  for (let round = 1; ; round++) {
    const progress = await deliveries.progressOf(ids)
    const orders: SupersedeOrder[] = []
    for (const [job, openedId] of before) {
      if (openedId === undefined) continue
      const order = decideIncidentOrder(progress.get(openedId))
      if (order.kind !== 'supersede') continue
      const { delivery_id: byId, channel_id } = job.request
      orders.push({ deliveryId: openedId, byId, waitsFor: order.waitsFor, atMs: clock.now() })
      logger.info({ delivery_id: openedId, told_by: byId, channel_id, reason: order.reason }, 'delivery.superseded')
    }
    // What cannot be settled is told as it stands: late, but never lost.
    if (orders.length === 0 || round > MAX_ROUNDS) return progress
    await deliveries.supersede(orders)
    crashPoint('notifier.after-supersede')
  }
}
