export { findMissingCollections, findMissingRegistered, findMissingSchemas, findMissingTopics } from './missing.ts'
export * from './provision.ts'
export type { Report } from './report.ts'
export { type Durability, wantedTopics } from './topics/plan-topics.ts'
