/** An action may be this much older than the start of its operation, or this much younger than its end. */
export const EARLIEST_BEFORE_START_MS = 2 * 60_000
export const LATEST_AFTER_END_MS = 15 * 60_000
/**
 * How long after its start an operation without a reported end explains actions that it does not name. Without this
 * limit, an operation whose software crashed would explain every similar action on its payment for ever.
 */
export const LATEST_WITHOUT_END_MS = 24 * 3_600_000
