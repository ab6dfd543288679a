export * from './load.ts'
export * from './load-watch.ts'
export * from './metrics.ts'
export * from './ops-server.ts'
