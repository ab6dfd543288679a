import type { DeliveryRequest } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { DeliveryProgress, DeliveryStore, SupersedeOrder } from '../delivery-record/delivery-store.ts'
import {
  canBeSuperseded,
  decideIncidentOrder,
  includeOpening,
  openingDeliveryId,
  precedingDeliveryIds,
} from '../incident-order/rules/decide-order.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import type { DeliveryJob } from '../jobs/delivery-job.ts'

export interface IncidentOrderOptions {
  readonly deliveries: Pick<DeliveryStore, 'progressOf' | 'supersede'>
  readonly clock: Clock
  readonly logger: Logger
  readonly active: Pick<ActiveDeliveries, 'untilStored'>
}

/** A job with the request to send for it. */
export interface Sendable {
  readonly job: DeliveryJob
  /** The job's own request, or one that announces the opening too. */
  readonly request: DeliveryRequest
}

export interface OrderedJobs {
  readonly sendable: readonly Sendable[]
  /** Jobs that are finished because a later message announces their incident or storm as well. */
  readonly superseded: readonly DeliveryJob[]
}

/**
 * Puts the messages about one incident or storm into the right order. `ChannelQueues` never runs two jobs of one incident at the
 * same time, so the progress read here stays valid until these jobs have ended. Most jobs need no read, and no promise.
 * @throws AppError `unavailable` if the progress could not be read; nothing was sent
 */
export function orderIncidents(
  jobs: readonly DeliveryJob[],
  options: IncidentOrderOptions,
): OrderedJobs | Promise<OrderedJobs> {
  const before = new Map(jobs.map(job => [job, precedingDeliveryIds(job.request.alert, job.request.channel_id)]))
  const rechecked = jobs.filter(job => job.isKnown && canBeSuperseded(job.request.alert))
  const isAlone = rechecked.length === 0 && [...before.values()].every(earlierIds => earlierIds.length === 0)
  return isAlone ? asTheyAre(jobs) : orderByProgress(jobs, before, rechecked, options)
}

/** The jobs with their own requests, in the given order. */
export function asTheyAre(jobs: readonly DeliveryJob[]): OrderedJobs {
  return { sendable: jobs.map(job => ({ job, request: job.request })), superseded: [] }
}

async function orderByProgress(
  jobs: readonly DeliveryJob[],
  before: ReadonlyMap<DeliveryJob, readonly string[]>,
  rechecked: readonly DeliveryJob[],
  options: IncidentOrderOptions,
): Promise<OrderedJobs> {
  await options.active.untilStored([...before.values()].flat())
  const progress = await supersedeEarlier(before, rechecked, options)
  const superseded = jobs.filter(job => progress.get(job.request.delivery_id)?.state === 'superseded')
  const sendable = jobs
    .filter(job => !superseded.includes(job))
    .map(job => {
      const announcesOpening = isOpeningUnknown(job, before.get(job) ?? [], progress)
      return {
        job,
        request: announcesOpening ? { ...job.request, alert: includeOpening(job.request.alert) } : job.request,
      }
    })
  return { sendable, superseded }
}

/** True if the opening was superseded, and no later message about the incident announced it. */
function isOpeningUnknown(
  { request: { alert, channel_id } }: DeliveryJob,
  before: readonly string[],
  progress: ReadonlyMap<string, DeliveryProgress>,
): boolean {
  const opening = openingDeliveryId(alert, channel_id)
  if (opening === undefined || progress.get(opening)?.state !== 'superseded') return false
  return !before.some(id => progress.get(id)?.state === 'delivered')
}

/**
 * During a rebalance two processes may handle one channel. The process whose write is refused reads again, up to this
 * many times.
 */
const MAX_ROUNDS = 5

/** Records which openings and earlier reports are superseded. @returns the progress of all deliveries that the order depends on */
async function supersedeEarlier(
  before: ReadonlyMap<DeliveryJob, readonly string[]>,
  rechecked: readonly DeliveryJob[],
  { deliveries, clock, logger }: IncidentOrderOptions,
): Promise<ReadonlyMap<string, DeliveryProgress>> {
  const ids = [...[...before.values()].flat(), ...rechecked.map(job => job.request.delivery_id)]
  for (let round = 1; ; round++) {
    const progress = await deliveries.progressOf(ids)
    // Of several reports about one storm, the last one supersedes the others.
    const orders = new Map<string, SupersedeOrder>()
    for (const [job, earlierIds] of before) {
      const { delivery_id: byId, channel_id } = job.request
      for (const deliveryId of earlierIds) {
        const order = decideIncidentOrder(progress.get(deliveryId))
        if (order.kind !== 'supersede') continue
        orders.set(deliveryId, { deliveryId, byId, waitsFor: order.waitsFor, atMs: clock.now() })
        logger.info({ delivery_id: deliveryId, told_by: byId, channel_id, reason: order.reason }, 'delivery.superseded')
      }
    }
    // If the conflict is not resolved after these rounds, send the messages as they are: a late "opened" is better than
    // a lost one.
    if (orders.size === 0 || round > MAX_ROUNDS) return progress
    await deliveries.supersede([...orders.values()])
  }
}
