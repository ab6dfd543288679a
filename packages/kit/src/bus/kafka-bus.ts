import type { Metrics } from '../ops/metrics.ts'
import type { Bus } from './bus.ts'
import { KafkaConsumer } from './consumer/kafka-consumer.ts'
import { createKafkaMetrics } from './kafka-metrics.ts'
import { KafkaProducer } from './kafka-producer.ts'
import type { KafkaConnection } from './kafkajs/client.ts'
import { createLagMetrics } from './lag-metrics.ts'

export interface KafkaBusOptions extends KafkaConnection {
  /**
   * Prefix of every topic and group name at the broker, so that several installations (and test files) can share one
   * Kafka. Setting KAFKA_TOPIC_PREFIX; empty by default.
   */
  readonly topicPrefix?: string
  /**
   * Session timeout of the consumers, in milliseconds: the broker reassigns the partitions of a killed process after
   * this time without heartbeats. 10000 by default; the broker allows 6000 and more.
   */
  readonly sessionTimeoutMs?: number
  /** The timestamp of messages, in milliseconds since the epoch; the host's time by default. */
  readonly now?: () => number
  /** Where the clients and the consumer lag are recorded; nowhere if not set. */
  readonly metrics?: Metrics
}

/** The message broker on kafkajs 2.2.4, with its known bugs contained. Each bug has a test beside this file. */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { topicPrefix = '', now = Date.now } = options
  const metrics = options.metrics && createKafkaMetrics(options.metrics)
  const lag = options.metrics && createLagMetrics({ connection: options, topicPrefix, metrics: options.metrics, now })
  const settings = { topicPrefix, sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000, metrics, now }
  return {
    producer: producerOptions => new KafkaProducer(options, { topicPrefix, now, metrics }, producerOptions),
    consumer(consumerOptions) {
      // A group that commits nothing has no lag.
      if (consumerOptions.onlyRecentMs === undefined) lag?.watch(consumerOptions.groupId, consumerOptions.topics)
      return new KafkaConsumer(options, settings, consumerOptions)
    },
  }
}
