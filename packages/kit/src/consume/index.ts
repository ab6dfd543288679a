export * from './consumer-metrics.ts'
export * from './dead-letter.ts'
export * from './received.ts'
export * from './work-loop.ts'
