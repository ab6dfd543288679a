/** Where a test kills this process: between any two steps that the outside can see. */
export const RECONCILER_CRASH_POINTS = [
  'reconciler.before-save',
  'reconciler.after-claim',
  'reconciler.after-save',
  'reconciler.after-projections',
  'reconciler.after-publish',
  'reconciler.after-outbox',
  'reconciler.after-inbox',
] as const

export type ReconcilerCrashPoint = (typeof RECONCILER_CRASH_POINTS)[number]

/** Those on the way of a command. `test/crash-points.integration-test.ts` kills at them, since no refund leads there. */
export const RECONCILER_COMMAND_CRASH_POINTS = [
  'reconciler.after-channel-incident',
  'reconciler.after-channel-alert',
] as const
