/** How far before its operation began executing, and after it ended, the provider's time of an action may lie. */
export const EARLIEST_BEFORE_START_MS = 2 * 60_000
export const LATEST_AFTER_END_MS = 15 * 60_000
/**
 * How long after its beginning an operation explains what it does not name while nobody reports its end. One whose
 * software died while executing would otherwise explain every like action on its payment for ever.
 */
export const LATEST_WITHOUT_END_MS = 24 * 3_600_000
