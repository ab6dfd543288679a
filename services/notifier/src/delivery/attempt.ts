import type { AttemptAnswer } from '@backstop/channels'
import type { ChannelPorts } from '@backstop/channels/deliver'
import { deliverDigestToChannel, deliverToChannel } from '@backstop/channels/deliver'
import { type DeliveryRequest, isHeartbeatProject } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { unavailable } from '@backstop/kit/errors'
import type { LogLimit } from '@backstop/kit/log-budget'
import type { Logger } from '@backstop/kit/logger'
import { type Tracing, traceIdOf } from '@backstop/kit/tracing'
import type { ChannelDirectory } from '../channels/channel-directory.ts'
import type { ChannelRecord } from '../channels/channel-store.ts'
import { type DeliveryJob, digestIdOf, isOwned } from '../jobs/delivery-job.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { ChannelSignal } from '../queue/channel-paces.ts'
import { asTheyAre, type IncidentOrderOptions, orderIncidents, type Sendable } from './order-incidents.ts'
import type { EndedAttempt } from './outcome-writer.ts'
import { endAttemptSpan, idsOf, reportAttempt, startAttemptSpan } from './report-attempt.ts'
import { judgeChannel } from './rules/channel-state.ts'
import { outcomeOfAttempt, outcomeWithoutAttempt } from './rules/outcome-of-attempt.ts'

export interface AttemptOptions extends IncidentOrderOptions {
  readonly directory: ChannelDirectory
  readonly ports: ChannelPorts
  /** False if the keys of this process are wrong. */
  canOpenSecrets(): Promise<boolean>
  readonly clock: Clock
  readonly logger: Logger
  readonly logLimit: LogLimit
  readonly metrics: DeliveryMetrics
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
}

/** The result of an attempt, by job. */
export interface Attempted {
  readonly ended: readonly EndedAttempt[]
  /** Jobs that are finished because a later message contains their alert. */
  readonly superseded: readonly DeliveryJob[]
  /** Jobs whose partition was revoked before the attempt: the new owner makes it. */
  readonly lost: readonly DeliveryJob[]
  /**
   * What the attempt showed about the receiver; undefined if no attempt was made or its result says nothing about the
   * receiver.
   */
  readonly shown: ChannelSignal | undefined
}

/**
 * Makes one attempt for these jobs of one channel: a single message for one job, a digest for several. Makes no attempt
 * if the channel is deleted or disabled. Does not record the result.
 * @throws AppError `unavailable` if the channel or the deliveries could not be read, or if the keys of this process are wrong; nothing
 * was sent
 */
export async function attempt(jobs: readonly DeliveryJob[], options: AttemptOptions): Promise<Attempted> {
  const { directory, clock, logger } = options
  const [first] = jobs as [DeliveryJob]
  const channelId = first.request.channel_id
  const record = directory.cached(channelId) ?? (await directory.find([channelId])).get(channelId)
  const { test } = first.request
  const verdict = judgeRecord(record, test)
  // Jobs that will not be sent need no order.
  const needsOrder = !test && verdict.kind !== 'ends'
  const { sendable, superseded } = await (needsOrder ? orderIncidents(jobs, options) : asTheyAre(jobs))
  const owned = sendable.filter(({ job }) => isOwned(job))
  const lost = sendable.filter(({ job }) => !isOwned(job)).map(({ job }) => job)
  if (owned.length === 0) return { ended: [], superseded, lost, shown: undefined }
  if (record === undefined || verdict.kind === 'ends') {
    const ends = verdict.kind === 'ends' ? verdict : GONE
    const ended = owned.map(({ job }) => {
      const { delivery_id: deliveryId, attempt: number } = job.request
      const outcome = outcomeWithoutAttempt({ deliveryId, attempt: number }, ends, clock.now())
      logger.info({ ...idsOf(job), reason: outcome.reasonCode }, 'delivery.not_attempted')
      return { job, outcome }
    })
    return { ended, superseded, lost, shown: undefined }
  }
  const ended = await sendJobs(owned, record, options)
  return { ended, superseded, lost, shown: findSignal(ended, record.channel.version) }
}

function judgeRecord(record: ChannelRecord | undefined, test: boolean) {
  return judgeChannel(
    record && {
      enabled: record.channel.enabled,
      deleted: record.channel.deleted_at !== null,
      disabledReason: record.disabledReason,
    },
    test,
  )
}

const GONE = judgeChannel(undefined, false) as Extract<ReturnType<typeof judgeChannel>, { kind: 'ends' }>

async function sendJobs(
  sendable: readonly Sendable[],
  record: ChannelRecord,
  options: AttemptOptions,
): Promise<EndedAttempt[]> {
  const { channel } = record
  const ended = sendable[0]?.job.endedAddresses ?? []
  const { ports, clock, logger, directory, tracing } = options
  const requests = sendable.map(({ request }) => request).toSorted(byAgeOfAlert)
  const [first] = sendable as [Sendable]
  const digestId = sendable.length > 1 ? digestIdOf(sendable.map(({ job }) => job)) : undefined
  const onFault = (error: unknown) => logger.error({ ...idsOf(first.job), digest: digestId, error }, 'delivery.fault')
  const spans = tracing && sendable.map(({ job }) => startAttemptSpan(tracing, job))
  const startedAtMs = clock.now()
  const answer = isHeartbeatProject(channel.project_id)
    ? ARRIVED
    : digestId === undefined
      ? await deliverToChannel(record, first.request, ports, ended, onFault)
      : await deliverDigestToChannel(record, { digestId, requests }, ports, ended, onFault)
  if (answer.kind === 'not_sendable' && answer.reason === 'secret_unreadable' && !(await options.canOpenSecrets())) {
    throw unavailable('The key of the stored secrets', undefined)
  }
  const endedAtMs = clock.now()
  return sendable.map(({ job }, index) => {
    const outcome = outcomeOfAttempt({
      deliveryId: job.request.delivery_id,
      channelKind: job.channelKind,
      attempt: job.request.attempt,
      test: job.request.test,
      firstAttemptAtMs: job.firstAttemptAtMs,
      ladderAttemptsAtMs: job.ladderAttemptsAtMs,
      ...(digestId === undefined ? {} : { digestId }),
      startedAtMs,
      endedAtMs,
      answer,
    })
    if (outcome.health?.kind === 'disable') directory.markDisabled(channel._id, outcome.health.error)
    const span = spans?.[index]
    if (span?.isSampled) endAttemptSpan(span, job, outcome)
    reportAttempt(job, answer, outcome, options, span && traceIdOf(span.traceparent))
    return { job, outcome }
  })
}

/** The heartbeat ends here: its record in `deliveries` is what admin-api looks for. Nothing is sent, so no receiver can stop it. */
const ARRIVED: AttemptAnswer = { kind: 'http', status: 204, retryAfter: null, body: '' }

/** A repeated digest lists its alerts in the same order, in whichever order they arrive. */
function byAgeOfAlert(a: DeliveryRequest, b: DeliveryRequest): number {
  const ageMs = Date.parse(a.alert.created_at) - Date.parse(b.alert.created_at)
  return ageMs || (a.delivery_id < b.delivery_id ? -1 : 1)
}

function findSignal(ended: readonly EndedAttempt[], channelVersion: number): ChannelSignal | undefined {
  const paceSignal = ended.find(({ outcome }) => outcome.paceSignal !== null)?.outcome.paceSignal
  return paceSignal == null ? undefined : { paceSignal, channelVersion }
}
