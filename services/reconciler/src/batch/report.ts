import { ProviderKind } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import type { ConsumerMetrics } from '@backstop/kit/consume'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import { traceIdOf } from '@backstop/kit/tracing'
import type { BatchReport } from './reconcile-batch.ts'

/** Buckets around the promise: a verdict within 61 seconds, and within 65 if the provider does not answer. */
const VERDICT_BUCKETS_S = [1, 5, 15, 30, 60, 61, 65, 75, 90, 300, 1200]

/**
 * Logs each batch and each verdict that it changed, and updates the metrics. Explained actions are the normal case and
 * the most frequent, so they are logged at level debug.
 */
export function createReporter(
  logger: Logger,
  metrics: Metrics,
  consumerMetrics: Pick<ConsumerMetrics, 'deadLettered'>,
  clock: Clock,
): (result: BatchReport, messages: number, startedAt: number) => void {
  const verdicts = metrics.counter('reconciler_verdicts_total', 'Verdicts that changed, by verdict and reason', [
    'verdict',
    'reason',
  ])
  const conflicts = metrics.counter('reconciler_conflicts_total', 'Cases decided again because another writer won', [])
  const duration = metrics.histogram(
    'reconciler_batch_duration_seconds',
    'Time to decide one batch and to make its effects durable',
    [],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  )
  const waits = metrics.histogram(
    'reconciler_verdict_seconds',
    'From the first record of an action to the verdict that ended its wait for a second look',
    ['provider'],
    VERDICT_BUCKETS_S,
  )
  // A counter that begins with its first event would hide that event from rates.
  for (const provider of ProviderKind.options) waits.zero({ provider })
  return (result, messages, startedAt) => {
    for (const { provider, firstSeenAt } of result.waited) {
      waits.observe({ provider }, Math.max(0, clock.now() - firstSeenAt) / 1000)
    }
    for (const action of result.decided) {
      verdicts.inc({ verdict: action.verdict, reason: action.reason })
      const level = action.verdict === 'explained' ? 'debug' : 'info'
      logger[level](
        {
          action_id: action.action_id,
          project_id: action.project_id,
          connection_id: action.connection_id,
          kind: action.kind,
          subject: action.subject,
          provider_ref: action.provider_ref,
          verdict: action.verdict,
          reason: action.reason,
          operation_id: action.operation_id,
          incident_id: action.incident_id,
          trace_id: traceIdIn(result.traceparents, action.action_id),
        },
        'action.decided',
      )
    }
    for (const { id, reason, readback } of result.unusable) {
      const { connection_id, project_id } = readback
      consumerMetrics.deadLettered('readbacks', 'message_invalid')
      logger.warn({ dead_letter_id: id, connection_id, project_id, reason }, 'object.dead_lettered')
    }
    const durationMs = clock.now() - startedAt
    conflicts.inc(result.conflicts)
    duration.observe({}, durationMs / 1000)
    logger.info(
      {
        messages,
        decided: result.decided.length,
        published: result.published,
        ignored: result.ignored,
        duplicates: result.duplicates,
        conflicts: result.conflicts,
        duration_ms: durationMs,
      },
      'batch.reconciled',
    )
  }
}

function traceIdIn(traceparents: BatchReport['traceparents'], actionId: string): string | undefined {
  const traceparent = traceparents.get(actionId)
  return traceparent === undefined ? undefined : traceIdOf(traceparent)
}
