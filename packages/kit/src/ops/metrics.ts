import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { Counter, Histogram, type MetricValues } from './series.ts'

export type { Gauge } from 'prom-client'

/** The metrics of a process, or of one service if several run in the process. */
export interface Metrics {
  counter<L extends string>(name: string, help: string, labels: readonly L[]): Counter<L>
  gauge<L extends string>(name: string, help: string, labels: readonly L[]): Gauge<L>
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>
  /** Records one answered HTTP request of any server of the process. */
  recordHttpRequest(request: AnsweredRequest): void
  /**
   * Adds a function that sets gauges before each read. If it fails, the failure is counted and the other metrics are
   * read.
   */
  beforeRead(collect: () => void | Promise<void>): void
  /** The metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** The labels of a request are few: the route is a pattern, never a path. */
export interface AnsweredRequest {
  readonly method: string
  readonly route: string
  /** The status code; `none` if the client ended the request before its answer. */
  readonly status: number | 'none'
  readonly durationS: number
}

/** OpenTelemetry's buckets for the duration of HTTP requests, in seconds. */
export const HTTP_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/**
 * Buckets for the time from the first event to the receiver's answer, in seconds. They are close to each other around the
 * promise of 90 seconds, which includes the grace period of one minute.
 */
export const END_TO_END_BUCKETS_S = [0.5, 1, 2, 5, 10, 30, 60, 61, 65, 75, 90, 120, 300, 900, 3600]

/** Methods with their own label. All other methods share one, because a client may send many. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** @param service the value of the label `service` of every metric */
export function createMetrics(
  service: string,
  options: { processMetrics: boolean } = { processMetrics: false },
): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  if (options.processMetrics) collectDefaultMetrics({ register: registry })
  const collectors: (() => void | Promise<void>)[] = []
  const register = <M extends { get(): MetricValues }>(metric: M): M => {
    // The registry reads `name` and `get`. The type has all members of prom-client's own metrics.
    registry.registerMetric(metric as unknown as Metric)
    return metric
  }
  const requests = register(
    new Histogram(
      {
        name: 'http_server_request_duration_seconds',
        help: 'Time from the headers of a request to the end of its answer',
        labelNames: ['method', 'route', 'status'],
      },
      HTTP_BUCKETS_S,
    ),
  )
  const failures = register(
    new Counter({
      name: 'metrics_collect_failures_total',
      help: 'Reads of the metrics in which some gauges could not be set',
      labelNames: [],
    }),
  )
  return {
    counter: (name, help, labelNames) => register(new Counter({ name, help, labelNames })),
    gauge: (name, help, labels) => new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
    histogram: (name, help, labelNames, bounds) => register(new Histogram({ name, help, labelNames }, bounds)),
    recordHttpRequest({ method, route, status, durationS }) {
      const known = METHODS.has(method) ? method : 'other'
      requests.observe({ method: known, route, status: String(status) }, durationS)
    },
    beforeRead: collect => void collectors.push(collect),
    async text() {
      const results = await Promise.allSettled(collectors.map(async collect => collect()))
      if (results.some(({ status }) => status === 'rejected')) failures.inc()
      return registry.metrics()
    },
  }
}
