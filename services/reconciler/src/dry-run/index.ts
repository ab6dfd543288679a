/** The exports for the command line: a replay of stored events with the reconciler's rules. */
export type { ShownVerdict as Said, VerdictDifference } from './compare.ts'
export { type DryRunProgress, dryRun } from './dry-run.ts'
export { createMongoReplaySource } from './mongo-source.ts'
export type { ReplaySource } from './source.ts'
export type { DryRunSummary, NotReplayed } from './tally.ts'
