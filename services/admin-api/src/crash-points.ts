/**
 * Every place at which tests kill this process for real. A test reads this list and fails when one of them was never
 * passed. Both lie between the steps of taking an operation in.
 */
export const ADMIN_CRASH_POINTS = [
  /** The operation is stored; its message is not published. */
  'admin.after-write',
  /** Its message is published, and still lies in the outbox. */
  'admin.after-publish',
] as const

export type AdminCrashPoint = (typeof ADMIN_CRASH_POINTS)[number]
