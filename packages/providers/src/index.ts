export type * from './observation.ts'
export type * from './provider.ts'
export { PROVIDERS } from './registry.ts'
