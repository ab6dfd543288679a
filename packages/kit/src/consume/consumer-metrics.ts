import type { TopicName } from '@backstop/contracts'
import type { Metrics } from '../ops/metrics.ts'

/** The metrics of all consumers of a process. */
export interface ConsumerMetrics {
  handled(topic: TopicName, messages: number, durationMs: number): void
  /** @param topic the topic of the unusable message */
  deadLettered(topic: TopicName, code: string): void
  deferred(topic: TopicName): void
}

const BATCH_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30]

/** Registers the metrics. Call it once per process and pass the result to every consumer. */
export function createConsumerMetrics(metrics: Metrics): ConsumerMetrics {
  const handled = metrics.counter('consumer_messages_total', 'Messages handled', ['topic'])
  const deadLettered = metrics.counter('dead_letters_total', 'Messages sent to a dead-letter topic', ['topic', 'code'])
  const deferred = metrics.counter('consumer_retries_total', 'Batches deferred, to be handled again', ['topic'])
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
    deadLettered: (topic, code) => deadLettered.inc({ topic, code }),
    deferred: topic => deferred.inc({ topic }),
  }
}
