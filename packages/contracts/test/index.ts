export { releasedSchema, releases, samples } from './frozen.ts'
export * from './provider-ids.ts'
export * from './schema-changes.ts'
