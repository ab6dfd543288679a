import type { Bus } from './bus.ts'
import { KafkaConsumer } from './kafka-consumer.ts'
import { KafkaProducer } from './kafka-producer.ts'
import type { KafkaConnection } from './kafkajs-client.ts'

export interface KafkaBusOptions extends KafkaConnection {
  /**
   * Stands before every topic's and group's name at the broker, so that several installations (and test files) share
   * one Kafka; setting KAFKA_TOPIC_PREFIX, empty when left out.
   */
  readonly topicPrefix?: string
  /**
   * How long the broker waits for a heartbeat before it reassigns a consumer's partitions, in milliseconds: the time for which the partitions of
   * a killed process rest. 10000 when left out; the broker allows 6000 and more.
   */
  readonly sessionTimeoutMs?: number
  /** Stamps the messages, in milliseconds since the epoch; the time of this host when left out. */
  readonly now?: () => number
}

/** The message broker over kafkajs 2.2.4, with its known bugs contained; each has a test beside this file. */
export function createKafkaBus(options: KafkaBusOptions): Bus {
  const { topicPrefix = '', now = Date.now } = options
  const settings = { topicPrefix, sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000 }
  return {
    producer: producerOptions => new KafkaProducer(options, { topicPrefix, now }, producerOptions),
    consumer: consumerOptions => new KafkaConsumer(options, settings, consumerOptions),
  }
}
