export * from './mongo-outbox-source.ts'
export * from './outbox-publisher.ts'
export * from './outbox-sweeper.ts'
