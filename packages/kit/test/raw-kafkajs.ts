import kafkajs, { type Kafka } from 'kafkajs'
import type { TestStack } from './stack.ts'

/** kafkajs with its own defaults, to demonstrate the bugs that our bus contains. */
export function createPlainKafkajs(stack: TestStack): Kafka {
  return new kafkajs.Kafka({ brokers: [...stack.kafkaBrokers], clientId: 'raw', logLevel: kafkajs.logLevel.NOTHING })
}
