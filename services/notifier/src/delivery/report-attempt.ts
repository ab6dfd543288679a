import type { AttemptAnswer } from '@backstop/channels'
import { HEADERS, isHeartbeatProject } from '@backstop/contracts'
import type { LogLimit } from '@backstop/kit/log-budget'
import type { Logger } from '@backstop/kit/logger'
import type { Span, Tracing } from '@backstop/kit/tracing'
import type { DeliveryJob } from '../jobs/delivery-job.ts'
import type { DeliveryMetrics } from '../metrics.ts'
import type { AttemptOutcome } from './rules/outcome-of-attempt.ts'

/** Writes the log line and the metrics of an attempt. The lines of successes are limited; the records of the deliveries have them all. */
export function reportAttempt(
  job: DeliveryJob,
  answer: AttemptAnswer,
  outcome: AttemptOutcome,
  { logger, logLimit, metrics }: { logger: Logger; logLimit: LogLimit; metrics: DeliveryMetrics },
  traceId?: string,
): void {
  const { record, reasonCode, state, next, health, coveredBy } = outcome
  const durationMs = record?.duration_ms ?? 0
  const unwritten = record?.outcome === 'delivered' ? logLimit.take('delivered') : 0
  if (unwritten !== undefined) {
    const line = {
      ...idsOf(job),
      outcome: record?.outcome,
      state,
      reason: reasonCode,
      status: record?.status,
      duration_ms: durationMs,
      told_by: coveredBy,
      next_attempt_at: next === null ? undefined : new Date(next.dueAtMs),
      next_attempt_reason: next?.reason,
      channel_disabled: health?.kind === 'disable' || undefined,
      trace_id: traceId,
      unwritten_lines: unwritten || undefined,
    }
    logger.info(line, 'delivery.attempted')
  }
  // The metrics describe what receivers answer.
  if (isHeartbeatProject(job.request.project_id)) return
  metrics.attempted(job.channelKind, record?.outcome ?? 'failed', reasonCode, durationMs)
  if (answer.kind === 'blocked') metrics.egressBlocked(answer.reason)
  if (health?.kind === 'disable') metrics.channelDisabled(job.channelKind, health.reasonCode)
  if (state === 'delivered' && !job.request.test && !job.isLateOnPurpose) {
    metrics.delivered(job.channelKind, outcome.atMs - notifiedAtMs(job))
  }
}

/** The ids of a job for a log line. */
export function idsOf({ request, channelKind }: DeliveryJob) {
  const { delivery_id, channel_id, project_id, attempt: number, test, alert } = request
  const { alert_id, event } = alert
  return { delivery_id, alert_id, channel_id, project_id, channel: channelKind, event, attempt: number, test }
}

/**
 * When the reconciler first recorded the action of the alert. Other alerts count from the time when they were created.
 */
function notifiedAtMs({ request, messages }: DeliveryJob): number {
  const carried = messages[0]?.message.headers[HEADERS.receivedAt]
  const atMs = carried === undefined ? Number.NaN : /^\d+$/.test(carried) ? Number(carried) : Date.parse(carried)
  return Number.isNaN(atMs) ? Date.parse(request.alert.created_at) : atMs
}

/** Starts the span of an attempt: in the trace of the alert or, after a delay line, in a trace of its own with a link. */
export function startAttemptSpan(tracing: Tracing, { channelKind, messages }: DeliveryJob): Span {
  const name = `deliver ${channelKind}`
  const headers = messages[0]?.message.headers ?? {}
  return tracing.continueFrom(name, 'client', headers) ?? tracing.start(name, { kind: 'client' })
}

/** The address of the receiver is no attribute, because it may contain a secret. */
export function endAttemptSpan(span: Span, { request, channelKind }: DeliveryJob, outcome: AttemptOutcome): void {
  span.set({
    'backstop.project_id': request.project_id,
    'backstop.channel_id': request.channel_id,
    'backstop.channel': channelKind,
    'backstop.alert_id': request.alert.alert_id,
    'backstop.alert_event': request.alert.event,
    'backstop.delivery_id': request.delivery_id,
    'backstop.attempt': request.attempt,
    'backstop.state': outcome.state,
    'backstop.reason': outcome.reasonCode,
    'http.response.status_code': outcome.record?.status,
  })
  span.end(outcome.record?.outcome === 'delivered' ? undefined : outcome.reasonCode)
}
