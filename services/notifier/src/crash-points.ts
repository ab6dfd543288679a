/**
 * The points at which tests kill this process with SIGKILL, in the order of a delivery's life. The crash test fails if
 * a listed point is never reached.
 */
export const NOTIFIER_CRASH_POINTS = [
  'notifier.fanout.before-produce',
  'notifier.fanout.after-produce',
  'notifier.before-attempt',
  /**
   * The receiver has answered, but nothing is recorded yet. A crash at any other point never delivers a message twice.
   */
  'notifier.after-attempt',
  'notifier.after-record',
  'notifier.after-retry-produce',
] as const

/**
 * Crash points outside the path of a delivery: commands, channel health, incident order, pauses, storms.
 * `test/crash-points.integration-test.ts` provokes each of them directly.
 */
export const NOTIFIER_CARE_CRASH_POINTS = [
  'notifier.after-disable',
  'notifier.after-publish',
  'notifier.after-enable',
  'notifier.after-supersede',
  'notifier.after-postpone',
  'notifier.after-requeue',
  'notifier.after-requeue-produce',
  'notifier.storm.after-members',
  'notifier.storm.after-adopt',
  'notifier.storm.after-begin',
  'notifier.storm.after-resolve',
  'notifier.storm.after-report',
  'notifier.storm.after-publish',
] as const
