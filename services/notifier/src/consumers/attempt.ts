import { HEADERS } from '@backstop/contracts'
import { type Clock, crashPoint, type Logger } from '@backstop/kit'
import type { ChannelPorts } from '../channels/channel.ts'
import { deliverThrough } from '../channels/registry.ts'
import type { Answer } from '../domain/answer.ts'
import { judgeChannel } from '../domain/channel-state.ts'
import { type Settlement, settleAttempt, settleWithoutAttempt } from '../domain/settle-attempt.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { ChannelDirectory } from './channel-directory.ts'
import { type DeliveryJob, isOwned } from './delivery-job.ts'

export interface AttemptOptions {
  readonly directory: ChannelDirectory
  readonly ports: ChannelPorts
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: DeliveryMetrics
}

/**
 * Makes the one attempt that a job asks for, unless its channel is gone or disabled by now. Records nothing.
 * @returns undefined when the job's partition went elsewhere before anything was sent: its new owner makes the attempt
 * @throws AppError `unavailable` when the channel could not be read; nothing was sent
 */
export async function attempt(job: DeliveryJob, options: AttemptOptions): Promise<Settlement | undefined> {
  const { directory, ports, clock, logger } = options
  const { request } = job
  const { delivery_id: deliveryId, channel_id: channelId, attempt: number, test } = request
  const record = (await directory.find([channelId])).get(channelId)
  if (!isOwned(job)) return undefined
  const verdict = judgeChannel(
    record && {
      enabled: record.channel.enabled,
      deleted: record.channel.deleted_at !== null,
      disabledReason: record.disabledReason,
    },
    test,
  )
  if (record === undefined || verdict.kind === 'ends') {
    const ends = verdict.kind === 'ends' ? verdict : GONE
    const settlement = settleWithoutAttempt({ deliveryId, attempt: number }, ends, clock.now())
    logger.info({ ...idsOf(job), reason: settlement.reasonCode }, 'delivery.not_attempted')
    return settlement
  }
  crashPoint('notifier.before-attempt')
  const startedAtMs = clock.now()
  const onFault = (error: unknown) => logger.error({ ...idsOf(job), error }, 'delivery.fault')
  const answer = await deliverThrough(record.channel, request, ports, onFault)
  crashPoint('notifier.after-attempt')
  const settlement = settleAttempt({
    deliveryId,
    channelKind: job.channelKind,
    attempt: number,
    test,
    firstAttemptAtMs: job.firstAttemptAtMs,
    startedAtMs,
    endedAtMs: clock.now(),
    answer,
  })
  if (settlement.health?.kind === 'disable') directory.noteDisabled(channelId, settlement.health.error)
  report(job, answer, settlement, options)
  return settlement
}

const GONE = judgeChannel(undefined, false) as Extract<ReturnType<typeof judgeChannel>, { kind: 'ends' }>

/** The one wide line of an attempt, and its metrics. */
function report(job: DeliveryJob, answer: Answer, settlement: Settlement, { logger, metrics }: AttemptOptions): void {
  const { record, reasonCode, state, next, health } = settlement
  const durationMs = record?.duration_ms ?? 0
  logger.info(
    {
      ...idsOf(job),
      outcome: record?.outcome,
      state,
      reason: reasonCode,
      status: record?.status,
      duration_ms: durationMs,
      next_attempt_at: next === null ? undefined : new Date(next.dueAtMs),
      next_attempt_reason: next?.reason,
      channel_disabled: health?.kind === 'disable' || undefined,
    },
    'delivery.attempted',
  )
  metrics.attempted(job.channelKind, record?.outcome ?? 'failed', reasonCode, durationMs)
  if (answer.kind === 'blocked') metrics.egressBlocked(answer.reason)
  if (health?.kind === 'disable') metrics.channelDisabled(job.channelKind, health.reasonCode)
  if (state === 'delivered' && !job.request.test) {
    metrics.delivered(job.channelKind, settlement.settledAtMs - notifiedAtMs(job))
  }
}

/** When the provider's notification came in, or, for alerts that none caused, when the alert was made. */
function notifiedAtMs({ request, messages }: DeliveryJob): number {
  const carried = messages[0]?.message.headers[HEADERS.receivedAt]
  const atMs = carried === undefined ? Number.NaN : /^\d+$/.test(carried) ? Number(carried) : Date.parse(carried)
  return Number.isNaN(atMs) ? Date.parse(request.alert.created_at) : atMs
}

function idsOf({ request, channelKind }: DeliveryJob) {
  const { delivery_id, channel_id, project_id, attempt: number, test, alert } = request
  const { alert_id, event } = alert
  return { delivery_id, alert_id, channel_id, project_id, channel: channelKind, event, attempt: number, test }
}
