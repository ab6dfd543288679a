/** The dashboards: overview, and one for each part of an alert's way. */
import type { Dashboard, Panel } from './grafana.ts'

type Rest = Partial<Pick<Panel, 'description' | 'redFrom'>>

const now = (title: string, expr: string, unit: Panel['unit'] = 'short', rest: Rest = {}): Panel => ({
  ...{ title, kind: 'now', unit, queries: [{ expr, legend: title }] },
  ...rest,
})
const graph = (
  title: string,
  unit: Panel['unit'],
  queries: Readonly<Record<string, string>>,
  rest: Rest = {},
): Panel => ({
  ...{ title, kind: 'graph', unit },
  queries: Object.entries(queries).map(([legend, expr]) => ({ legend, expr })),
  ...rest,
})

const RATE = '[$__rate_interval]'
const quantile = (q: number, histogram: string, by = '', labels = '') =>
  `histogram_quantile(${q}, sum by (le${by && `, ${by}`}) (rate(${histogram}_bucket${labels && `{${labels}}`}${RATE})))`
const rate = (counter: string, by: string, labels = '') =>
  `sum by (${by}) (rate(${counter}${labels && `{${labels}}`}${RATE}))`
const budget = (slo: string) =>
  `backstop:slo_bad:increase3d{slo="${slo}"} / backstop:slo_events:increase3d{slo="${slo}"}`
/** A gauge that every process of admin-api shows. */
const state = (name: string, by = '', labels = '') =>
  `max${by && ` by (${by})`} (installation_${name}${labels && `{${labels}}`})`

const WEBHOOKS = 'service="ingress",route=~"/v1/webhooks/.*"'

export const DASHBOARDS: readonly Dashboard[] = [
  {
    uid: 'backstop-overview',
    title: 'Backstop: overview',
    rows: [
      [
        now('Incidents nobody acknowledged', `sum(${state('incidents', 'code', 'state="open"')})`, 'short', {
          redFrom: 1,
        }),
        now('Open storms', state('storms_open'), 'short', { redFrom: 1 }),
        now('Overdue second looks', state('second_looks_overdue'), 'short', { redFrom: 1 }),
        now('Oldest action without a verdict', state('undecided_oldest_seconds'), 's', { redFrom: 90 }),
        now('Dead letters', `sum(${state('dead_letters', 'topic')})`, 'short', { redFrom: 1 }),
        now('Disabled channels', `sum(${state('channels', 'kind', 'health="disabled"')})`, 'short', { redFrom: 1 }),
        now('Age of the heartbeat', 'min(heartbeat_age_seconds)', 's', { redFrom: 300 }),
      ],
      [
        now('Late acknowledgements, 3 days', budget('acknowledgement'), 'percentunit', { redFrom: 0.01 }),
        now('Failed intake, 3 days', budget('intake'), 'percentunit', { redFrom: 0.0005 }),
        now('Late verdicts, 3 days', budget('verdict'), 'percentunit', { redFrom: 0.01 }),
        now('Late deliveries, 3 days', budget('delivery'), 'percentunit', { redFrom: 0.01 }),
        now('Silent feeds', state('connections_silent'), 'short', { redFrom: 1 }),
        now('Rejected read keys', state('connections_key_rejected'), 'short', { redFrom: 1 }),
      ],
      [
        graph('Notifications', 'reqps', { '{{result}}': rate('ingress_webhooks_total', 'result') }),
        graph('Verdicts', 'ops', { '{{verdict}}': rate('reconciler_verdicts_total', 'verdict') }),
        graph('Attempts to deliver', 'ops', { '{{outcome}}': rate('delivery_attempts_total', 'outcome') }),
      ],
      [
        graph('Running builds', 'short', {
          '{{service}} {{version}} {{revision}}': 'count by (service, version, revision) (backstop_build_info)',
        }),
        graph('Processor time', 'short', { '{{service}} {{instance}}': `rate(process_cpu_seconds_total${RATE})` }),
        graph('Memory', 'bytes', { '{{service}} {{instance}}': 'process_resident_memory_bytes' }),
      ],
    ],
  },
  {
    uid: 'backstop-ingress',
    title: 'Backstop: ingress',
    rows: [
      [
        graph('Requests by status', 'reqps', {
          '{{status}}': rate('http_server_request_duration_seconds_count', 'status', WEBHOOKS),
        }),
        graph('Time to the acknowledgement', 's', {
          p50: quantile(0.5, 'http_server_request_duration_seconds', '', `${WEBHOOKS},status="200"`),
          p99: quantile(0.99, 'http_server_request_duration_seconds', '', `${WEBHOOKS},status="200"`),
        }),
      ],
      [
        graph('Requests that were not received', 'reqps', { '{{reason}}': rate('ingress_rejected_total', 'reason') }),
        graph('Notifications signed with an old secret', 'reqps', {
          '{{provider}}': rate('ingress_old_secret_total', 'provider'),
        }),
      ],
      [
        graph('Sends to Kafka', 's', {
          'p50 {{outcome}}': quantile(0.5, 'kafka_produce_duration_seconds', 'outcome'),
          'p99 {{outcome}}': quantile(0.99, 'kafka_produce_duration_seconds', 'outcome'),
        }),
        graph('Messages that wait for an acknowledgement', 'short', { '{{instance}}': 'ingress_queued_messages' }),
      ],
      [
        graph('Sockets', 'short', { '{{service}} {{instance}}': 'http_sockets_open' }),
        graph('Dropped connections', 'ops', {
          '{{service}} {{reason}}': rate('http_sockets_dropped_total', 'service, reason'),
        }),
        graph('Billing connections in memory', 'short', { '{{instance}}': 'ingress_connections' }),
      ],
    ],
  },
  {
    uid: 'backstop-judgement',
    title: 'Backstop: judgement',
    rows: [
      [
        graph('Actions without a verdict', 'short', {
          'without a verdict': state('undecided_actions'),
          overdue: state('second_looks_overdue'),
          'waiting for the provider': state('second_looks_waiting'),
        }),
        graph('Time from the first record to the verdict', 's', {
          'p50 {{provider}}': quantile(0.5, 'reconciler_verdict_seconds', 'provider'),
          'p99 {{provider}}': quantile(0.99, 'reconciler_verdict_seconds', 'provider'),
        }),
      ],
      [
        graph('Verdicts by reason', 'ops', {
          '{{verdict}} {{reason}}': rate('reconciler_verdicts_total', 'verdict, reason'),
        }),
        graph('Incidents', 'short', { '{{code}} {{state}}': state('incidents', 'code, state') }),
        graph('Storms', 'short', { storms: state('storms_open') }),
      ],
      [
        graph('Batches', 's', {
          p50: quantile(0.5, 'reconciler_batch_duration_seconds'),
          p99: quantile(0.99, 'reconciler_batch_duration_seconds'),
        }),
        graph('Conflicts', 'ops', { '{{instance}}': rate('reconciler_conflicts_total', 'instance') }),
        graph('Dead letters', 'short', { '{{topic}}': state('dead_letters', 'topic') }),
      ],
      [
        graph('Connections in trouble', 'short', {
          'read key rejected': state('connections_key_rejected'),
          'not readable': state('connections_unreadable'),
          silent: state('connections_silent'),
        }),
        graph('Longest time since a sweep', 's', { age: state('sweep_age_seconds') }),
        graph('Oldest change of an operation that was not compared', 's', {
          age: state('uncompared_operations_oldest_seconds'),
        }),
      ],
    ],
  },
  {
    uid: 'backstop-delivery',
    title: 'Backstop: delivery',
    rows: [
      [
        graph('Time from the first record to the delivery', 's', {
          'p50 {{channel}}': quantile(0.5, 'alert_e2e_latency_seconds', 'channel'),
          'p99 {{channel}}': quantile(0.99, 'alert_e2e_latency_seconds', 'channel'),
        }),
        graph('Attempts', 'ops', {
          '{{channel}} {{outcome}} {{reason}}': rate('delivery_attempts_total', 'channel, outcome, reason'),
        }),
      ],
      [
        graph('Deliveries that wait', 'short', { '{{state}}': state('deliveries', 'state') }),
        graph('Age of the oldest one', 's', {
          '{{state}}': state('delivery_oldest_seconds', 'state', 'state!="dead"'),
        }),
        graph('Channels', 'short', { '{{kind}} {{health}}': state('channels', 'kind, health', 'health!="ok"') }),
      ],
      [
        graph('Time of an attempt, p99', 's', {
          '{{channel}}': quantile(0.99, 'delivery_attempt_duration_seconds', 'channel'),
        }),
        graph('Postponed messages', 'ops', { '{{channel}}': rate('delivery_postponed_total', 'channel') }),
        graph('Blocked requests and disabled channels', 'ops', {
          'blocked: {{reason}}': rate('egress_blocked_total', 'reason'),
          'disabled: {{channel}} {{reason}}': rate('endpoint_disabled_total', 'channel, reason'),
        }),
      ],
    ],
  },
  {
    uid: 'backstop-dependencies',
    title: 'Backstop: dependencies',
    rows: [
      [
        graph('Consumer lag', 'short', { '{{group}} {{topic}}': 'max by (group, topic) (kafka_consumer_lag)' }),
        graph('Age of the oldest unread message', 's', {
          '{{group}} {{topic}}': 'max by (group, topic) (kafka_oldest_unread_seconds)',
        }),
        graph('Assigned partitions', 'short', { '{{group}}': 'sum by (group) (kafka_partitions_assigned)' }),
      ],
      [
        graph('Kafka: rebalances and rebuilt clients', 'ops', {
          'joins: {{group}}': rate('kafka_group_joins_total', 'group'),
          'consumers: {{reason}}': rate('kafka_consumers_rebuilt_total', 'reason'),
          'producers: {{service}}': rate('kafka_producers_rebuilt_total', 'service'),
        }),
        graph('Kafka: failed sends', 'ops', {
          'sent again: {{service}}': rate('kafka_send_retries_total', 'service'),
          'failed: {{service}} {{code}}': rate('kafka_send_failures_total', 'service, code'),
        }),
      ],
      [
        graph('MongoDB: time of commands, p99', 's', {
          '{{service}} {{command}}': quantile(
            0.99,
            'mongo_command_duration_seconds',
            'service, command',
            'command!="getMore"',
          ),
        }),
        graph('MongoDB: failed commands', 'ops', {
          '{{service}} {{command}}': rate(
            'mongo_command_duration_seconds_count',
            'service, command',
            'outcome="failed"',
          ),
        }),
        graph('MongoDB: connections', 'short', {
          'open: {{service}}': 'mongo_pool_connections',
          'in use: {{service}}': 'mongo_pool_connections_in_use',
          'waiting: {{service}}': 'mongo_pool_waiting',
        }),
      ],
      [
        graph('Unpublished messages', 's', { '{{collection}}': state('outbox_oldest_seconds', 'collection') }),
        graph('Clocks', 's', { '{{service}} {{instance}}': 'clock_offset_seconds' }),
        graph('Event loop, p99', 's', { '{{service}} {{instance}}': 'nodejs_eventloop_lag_p99_seconds' }),
      ],
    ],
  },
]
