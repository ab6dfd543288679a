/** What the command line takes of the reconciler: its rules, on what was taken in before. */
export type { ShownVerdict as Said, VerdictDifference } from './compare.ts'
export { type DryRunProgress, dryRun } from './dry-run.ts'
export { createMongoReplaySource } from './mongo-source.ts'
export type { ReplaySource } from './source.ts'
export type { DryRunSummary, NotReplayed } from './tally.ts'
