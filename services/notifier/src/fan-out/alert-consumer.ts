import { type Alert, HEADERS, TOPICS } from '@backstop/contracts'
import type { Consumer, Producer } from '@backstop/kit/bus'
import { createWorkLoop, type Received, type WorkLoopOptions } from '@backstop/kit/consume'
import { joinCalls } from '@backstop/kit/join-calls'
import type { LogLimit } from '@backstop/kit/log-budget'
import type { MessageCodec } from '@backstop/kit/registry'
import { type Span, type Tracing, traceIdOf } from '@backstop/kit/tracing'
import { deliveryMessage } from '../retry/delivery-messages.ts'
import { beginFanOut, createFanOutStages, type FanOutItem, type FanOutStageOptions } from './stages.ts'

export interface AlertConsumerOptions
  extends Pick<WorkLoopOptions<'alert'>, 'bus' | 'metrics' | 'onFatal'>,
    FanOutStageOptions {
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly logLimit: LogLimit
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
}

/**
 * Fans alerts out: adds names and links, produces one message on `deliveries` for each alert and channel, and records
 * the unexplained actions among them. After a crash it may produce a message twice; both have the same delivery id, so the alert is delivered
 * once.
 */
export function createAlertConsumer(options: AlertConsumerOptions): Consumer {
  const stages = createFanOutStages(options)
  return createWorkLoop<'alert'>({
    ...options,
    groupId: 'notifier',
    topics: { alerts: 'alert' },
    deadTopic: 'deliveries.dead',
    // All partitions at once: a batch waits most of its time for MongoDB and Kafka, and the alerts of others wait for it.
    maxPartitionsAtOnce: TOPICS.alerts.partitions,
    handle: joinCalls<Received<'alert'>, void>(async messages => {
      let batch = beginFanOut(messages)
      for (const stage of stages) batch = await stage(batch)
      await produce(batch.items, options)
    }),
  })
}

/** Produces the deliveries of these alerts, each with the trace of its alert. */
async function produce(items: readonly FanOutItem[], options: AlertConsumerOptions): Promise<void> {
  const { codec, producer, tracing } = options
  const spans: Span[] = []
  const outgoing = items.flatMap(({ alert, headers, silence, requests }) => {
    const span = tracing && startFanOut(tracing, headers)
    if (span?.isSampled) {
      spans.push(span)
      describeFanOut(span, alert, requests.length)
    }
    logFanOut({ alert, silence, requests }, span && traceIdOf(span.traceparent), options)
    const carried = span === undefined ? headers : { ...headers, [HEADERS.traceparent]: span.traceparent }
    return requests.map(request => deliveryMessage(codec, request, carried))
  })
  if (outgoing.length > 0) await producer.send(outgoing)
  for (const span of spans) span.end()
}

function logFanOut(
  { alert, silence, requests }: Omit<FanOutItem, 'headers'>,
  trace_id: string | undefined,
  { logger, logLimit }: AlertConsumerOptions,
): void {
  const { alert_id, project_id, event } = alert
  if (silence !== undefined && requests.length === 0) {
    logger.info({ alert_id, project_id, event, silence_id: silence._id, trace_id }, 'alert.silenced')
    return
  }
  const unwritten = logLimit.take('fanned_out')
  if (unwritten === undefined) return
  const line = { alert_id, project_id, event, channels: requests.length, trace_id }
  logger.info({ ...line, unwritten_lines: unwritten || undefined }, 'alert.fanned_out')
}

/** Alerts that follow from no message with a trace, such as those of admin-api, start one here. */
function startFanOut(tracing: Tracing, headers: Readonly<Record<string, string>>): Span {
  const kind = 'consumer'
  return tracing.continueFrom('process alerts', kind, headers) ?? tracing.start('process alerts', { kind })
}

function describeFanOut(span: Span, { alert_id, project_id, event, data }: Alert, deliveries: number): void {
  span.set({
    'messaging.system': 'kafka',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'alerts',
    'backstop.project_id': project_id,
    'backstop.alert_id': alert_id,
    'backstop.alert_event': event,
    'backstop.incident_id': 'incident' in data ? data.incident.incident_id : undefined,
    'backstop.deliveries': deliveries,
  })
}
