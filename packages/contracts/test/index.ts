export * from './provider-ids.ts'
export * from './schema-changes.ts'
