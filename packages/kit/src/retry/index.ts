export * from './backoff.ts'
export * from './partition-pauses.ts'
export * from './until-available.ts'
