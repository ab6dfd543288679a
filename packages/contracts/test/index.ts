export { releaseBefore, releasedSchema, samples } from './frozen.ts'
export * from './provider-ids.ts'
export * from './schema-changes.ts'
