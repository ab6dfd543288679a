export * from './bus.ts'
export * from './kafka-bus.ts'
export type { Address, KafkaConnection } from './kafkajs/client.ts'
export * from './topic-admin.ts'
