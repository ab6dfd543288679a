/**
 * Every place at which tests kill a process that writes the ledger: both lie between a write and the removal of what it
 * caused from its outbox. A test reads this list and fails when one of them was never passed.
 */
export const LEDGER_CRASH_POINTS = [
  /** It is stored; its messages are not published. */
  'ledger.after-write',
  /** Its messages are published, and still lie in the outbox. */
  'ledger.after-publish',
] as const
