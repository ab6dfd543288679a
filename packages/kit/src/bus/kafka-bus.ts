import type { Bus } from './bus.ts'
import { KafkaConsumer } from './kafka-consumer.ts'
import { KafkaProducer } from './kafka-producer.ts'
import type { KafkaConnection } from './kafkajs-client.ts'

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
}

/** The message broker on kafkajs 2.2.4, with its known bugs contained. Each bug has a test beside this file. */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { topicPrefix = '', now = Date.now } = options
  const settings = { topicPrefix, sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000 }
  return {
    producer: producerOptions => new KafkaProducer(options, { topicPrefix, now }, producerOptions),
    consumer: consumerOptions => new KafkaConsumer(options, settings, consumerOptions),
  }
}
