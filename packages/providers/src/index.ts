export type * from './observation.ts'
export { normaliseProcessorEvent } from './processor/normalise.ts'
export type * from './provider.ts'
export { PROVIDERS } from './registry.ts'
