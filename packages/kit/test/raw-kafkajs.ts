import kafkajs, { type Kafka } from 'kafkajs'
import type { TestStack } from './stack.ts'

/** Plain kafkajs with its own defaults, to show the faults that our bus keeps in. */
export function rawKafkajs(stack: TestStack): Kafka {
  return new kafkajs.Kafka({ brokers: [...stack.kafkaBrokers], clientId: 'raw', logLevel: kafkajs.logLevel.NOTHING })
}
