export type * from './provider.ts'
export type * from './read-back.ts'
export { PROVIDERS } from './registry.ts'
export type * from './sighting.ts'
