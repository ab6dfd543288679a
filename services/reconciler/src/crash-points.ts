/** The points at which a test kills this process: between any two steps with an effect outside the process. */
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

/** Crash points of commands. A refund does not pass them, so `test/crash-points.integration-test.ts` tests them. */
export const RECONCILER_COMMAND_CRASH_POINTS = [
  'reconciler.after-channel-incident',
  'reconciler.after-channel-alert',
] as const

/** Crash points of a replay of the inbox, tested there too. */
export const RECONCILER_REPLAY_CRASH_POINTS = [
  'reconciler.after-inbox-replay-begun',
  'reconciler.after-inbox-replay-page',
] as const

/** Crash points of changes of incidents, tested there too. */
export const RECONCILER_INCIDENT_CRASH_POINTS = [
  'reconciler.after-channel-alert',
  'reconciler.after-incident-change',
  'reconciler.after-bulk-page',
] as const
