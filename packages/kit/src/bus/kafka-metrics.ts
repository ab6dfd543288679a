import type { ErrorCode } from '@backstop/contracts'
import type { Metrics } from '../ops/metrics.ts'

/** Records what the Kafka clients of a process do. */
export interface KafkaMetrics {
  /** @param group without the topic prefix */
  joined(group: string, partitions: number): void
  /** A consumer ended and owns no partitions. */
  left(group: string): void
  consumerRebuilt(group: string, reason: string): void
  producerRebuilt(): void
  /** A request failed and is sent again. */
  sendRetried(): void
  /** A send failed. @param code the error code that its caller gets */
  sendFailed(code: string): void
}

/** The codes that a failed send can have. */
const SEND_FAILURE_CODES: readonly ErrorCode[] = ['unavailable', 'message_invalid']

export function createKafkaMetrics(metrics: Metrics): KafkaMetrics {
  const joins = metrics.counter('kafka_group_joins_total', 'Times that this process joined a consumer group', ['group'])
  const assigned = metrics.gauge('kafka_partitions_assigned', 'Partitions that this process consumes', ['group'])
  const consumers = metrics.counter('kafka_consumers_rebuilt_total', 'Consumers that were replaced after an error', [
    'group',
    'reason',
  ])
  const producers = metrics.counter(
    'kafka_producers_rebuilt_total',
    'Producers that were replaced after a send hung',
    [],
  )
  const retries = metrics.counter('kafka_send_retries_total', 'Produce requests that failed and were sent again', [])
  const failures = metrics.counter('kafka_send_failures_total', 'Sends that failed for good, by error code', ['code'])
  // A counter that begins with its first event would hide that event from rates.
  for (const code of SEND_FAILURE_CODES) failures.inc({ code }, 0)
  return {
    joined(group, partitions) {
      joins.inc({ group })
      assigned.set({ group }, partitions)
    },
    left: group => assigned.set({ group }, 0),
    consumerRebuilt: (group, reason) => consumers.inc({ group, reason }),
    producerRebuilt: () => producers.inc(),
    sendRetried: () => retries.inc(),
    sendFailed: code => failures.inc({ code }),
  }
}
