export type * from './observation.ts'
export type * from './provider.ts'
export type * from './read-back.ts'
export { PROVIDERS } from './registry.ts'
