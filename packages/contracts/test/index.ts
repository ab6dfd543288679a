export * from './schema-changes.ts'
