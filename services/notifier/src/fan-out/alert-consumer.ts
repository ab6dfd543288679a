import { type Alert, HEADERS, isHeartbeatProject, TOPICS } from '@backstop/contracts'
import {
  crashPoint,
  createWorkLoop,
  joinCalls,
  type LogLimit,
  type MessageCodec,
  type Producer,
  type Received,
  type Span,
  type Tracing,
  traceIdOf,
  type WorkLoop,
  type WorkLoopOptions,
} from '@backstop/kit'
import type { ChannelStore } from '../channels/channel-store.ts'
import type { DeliveryStore } from '../delivery-record/delivery-store.ts'
import { followsOpening } from '../incident-order/rules/decide-order.ts'
import type { ActiveDeliveries } from '../jobs/active-deliveries.ts'
import { deliveryMessage } from '../retry/delivery-messages.ts'
import type { StormOptions } from '../storm/join-storms.ts'
import { recordMembers } from '../storm/record-members.ts'
import { completeAlert } from './rules/complete-alert.ts'
import { fanOut } from './rules/fan-out.ts'
import { openingsToRead } from './rules/follow-opening.ts'
import { silenceOf, silenceQuestionOf } from './rules/silence.ts'

export interface AlertConsumerOptions
  extends Pick<WorkLoopOptions<'alert'>, 'bus' | 'metrics' | 'onFatal'>,
    StormOptions {
  readonly producer: Producer
  readonly codec: MessageCodec
  readonly logLimit: LogLimit
  readonly channels: ChannelStore
  readonly deliveries: Pick<DeliveryStore, 'progressOf'>
  readonly active: Pick<ActiveDeliveries, 'has'>
  /** Base URL of links to the console, without a trailing slash; null if there is none. */
  readonly publicUrl: string | null
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
}

/**
 * Fans alerts out: adds names and links, produces one message on `deliveries` for each alert and channel, and records
 * the unexplained actions among them. After a crash it may produce a message twice; both have the same delivery id, so the alert is delivered
 * once.
 */
export function createAlertConsumer(options: AlertConsumerOptions): WorkLoop {
  const { codec, channels, deliveries, active, producer, logger, logLimit, publicUrl, tracing } = options
  return createWorkLoop<'alert'>({
    ...options,
    groupId: 'notifier',
    topics: { alerts: 'alert' },
    deadTopic: 'deliveries.dead',
    // All partitions at once: a batch waits most of its time for MongoDB and Kafka, and the alerts of others wait for it.
    maxPartitionsAtOnce: TOPICS.alerts.partitions,
    handle: joinCalls<Received<'alert'>, void>(async messages => {
      const alerts = messages.map(({ message }) => message)
      const projects = [...new Set(alerts.map(({ project_id }) => project_id))]
      const question = silenceQuestionOf(alerts)
      const [listeners, names, silences] = await Promise.all([
        channels.findSubscribedChannels(projects),
        channels.findNames(projects),
        question === undefined ? [] : channels.findSilences(question),
      ])
      // What follows an opening counts for the storm that its incident belongs to, and changes nothing if there is none.
      const counted = alerts.filter(
        alert =>
          !isHeartbeatProject(alert.project_id) && (followsOpening(alert) || silenceOf(alert, silences) === undefined),
      )
      const memberships = await recordMembers(counted, options)
      const wanted = openingsToRead(alerts, listeners, alert => silenceOf(alert, silences) !== undefined)
      // In this order: a delivery leaves the memory when it is stored.
      const openings = new Set(wanted.filter(id => active.has(id)))
      if (wanted.length > 0) for (const id of (await deliveries.progressOf(wanted)).keys()) openings.add(id)
      const spans: Span[] = []
      const outgoing = messages.flatMap(({ message: alert, headers }) => {
        const span = tracing && startFanOut(tracing, headers)
        if (span?.isSampled) spans.push(span)
        const { alert_id, project_id, event } = alert
        const trace_id = span && traceIdOf(span.traceparent)
        const silence = silenceOf(alert, silences)
        const incident = 'incident' in alert.data ? alert.data.incident : undefined
        const completed = completeAlert(alert, names.get(project_id), publicUrl)
        const membership = memberships.get(incident?.incident_id ?? '')
        const requests = fanOut(completed, listeners, membership, { isSilenced: silence !== undefined, openings })
        // A resolution in the same batch follows this opening, although its delivery is not recorded yet.
        if (event === 'incident.opened') for (const { delivery_id } of requests) openings.add(delivery_id)
        if (silence !== undefined && requests.length === 0) {
          logger.info({ alert_id, project_id, event, silence_id: silence._id, trace_id }, 'alert.silenced')
        } else {
          const unwritten = logLimit.take('fanned_out')
          const line = { alert_id, project_id, event, channels: requests.length, trace_id }
          if (unwritten !== undefined)
            logger.info({ ...line, unwritten_lines: unwritten || undefined }, 'alert.fanned_out')
        }
        if (span?.isSampled) describeFanOut(span, alert, requests.length)
        const carried = span === undefined ? headers : { ...headers, [HEADERS.traceparent]: span.traceparent }
        return requests.map(request => deliveryMessage(codec, request, carried))
      })
      crashPoint('notifier.fanout.before-produce')
      if (outgoing.length > 0) await producer.send(outgoing)
      crashPoint('notifier.fanout.after-produce')
      for (const span of spans) span.end()
    }),
  })
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
