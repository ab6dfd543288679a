import type { TopicName } from '@backstop/contracts'
import type { Metrics } from '../ops/metrics.ts'

/** What a consumer loop tells about itself; one for all loops of a process. */
export interface ConsumerMetrics {
  handled(topic: TopicName, messages: number, durationMs: number): void
  parked(topic: TopicName, code: string): void
  retried(topic: TopicName): void
}

const BATCH_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]

/** The loop's metrics by Prometheus names; call it once per process and hand the answer to every loop. */
export function createConsumerMetrics(metrics: Metrics): ConsumerMetrics {
  const handled = metrics.counter('consumer_messages_total', 'Messages handled', ['topic'])
  const parked = metrics.counter('dead_letters_total', 'Messages parked on a dead-letter topic', ['topic', 'code'])
  const retried = metrics.counter('consumer_retries_total', 'Batches put off because a dependency was away', ['topic'])
  const duration = metrics.histogram(
    'messaging_process_duration_seconds',
    'Time to handle one batch',
    ['topic'],
    BATCH_BUCKETS_S,
  )
  return {
    handled(topic, messages, durationMs) {
      handled.inc({ topic }, messages)
      duration.observe({ topic }, durationMs / 1000)
    },
    parked: (topic, code) => parked.inc({ topic, code }),
    retried: topic => retried.inc({ topic }),
  }
}
