/**
 * Documents that one service writes and others read. Each file names the only writer (docs/architecture.md). Times are
 * BSON dates.
 */
export type * from './admin-api.ts'
export type * from './audit.ts'
export type * from './deploy-job.ts'
export type * from './ledger.ts'
export type * from './notifier.ts'
export type * from './process.ts'
export type * from './reconciler.ts'
