import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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
  /** The metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** OpenTelemetry's buckets for the duration of HTTP requests, in seconds. */
export const HTTP_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
/**
 * Buckets for the time from the first event to the receiver's answer, in seconds. The grace period of one minute is in
 * the middle of the range.
 */
export const END_TO_END_BUCKETS_S = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600]

/** @param service the value of the label `service` of every metric */
export function createMetrics(
  service: string,
  options: { processMetrics: boolean } = { processMetrics: false },
): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ service })
  if (options.processMetrics) collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    counter: (name, help, labels) => new Counter({ name, help, labelNames: [...labels], registers }),
    gauge: (name, help, labels) => new Gauge({ name, help, labelNames: [...labels], registers }),
    histogram: (name, help, labels, buckets) =>
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers }),
    text: () => registry.metrics(),
  }
}
