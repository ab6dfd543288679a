/**
 * Every place at which tests kill this process for real, in the order of a delivery's life. A test reads this list and
 * fails when one of them was never passed.
 */
export const NOTIFIER_CRASH_POINTS = [
  'notifier.fanout.before-produce',
  'notifier.fanout.after-produce',
  'notifier.before-attempt',
  /** The receiver has answered; nothing of it is recorded. The only point after which a receiver may see a delivery twice. */
  'notifier.after-attempt',
  'notifier.after-record',
  'notifier.after-retry-produce',
] as const

/**
 * Those of what goes on around deliveries: commands, health, order, pauses. `test/crash-points.integration-test.ts` kills at
 * each, since no refund leads there by itself.
 */
export const NOTIFIER_CARE_CRASH_POINTS = [
  'notifier.after-disable',
  'notifier.after-publish',
  'notifier.after-enable',
  'notifier.after-supersede',
  'notifier.after-postpone',
  'notifier.after-requeue',
  'notifier.after-requeue-produce',
] as const
