/**
 * The points at which tests kill a process that writes the ledger, between a write and the removal of its entries from
 * the outbox. A test fails if a point is never reached.
 */
export const LEDGER_CRASH_POINTS = [
  /** The write is stored; its messages are not published. */
  'ledger.after-write',
  /** Its messages are published and still in the outbox. */
  'ledger.after-publish',
] as const
