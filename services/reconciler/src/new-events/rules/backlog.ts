/** The consumer of all events has a backlog when it handles an event older than this, in milliseconds. */
const LATE_MS = 30_000
/** The backlog is over when it has handled no event older than this, in milliseconds… */
const IN_TIME_MS = 10_000
/** …for so long, in milliseconds. In a shorter time a partition that waits its turn shows nothing. */
const OVER_AFTER_MS = 15_000

/** When an event of the backlog was last handled, in milliseconds since the epoch; undefined if there is no backlog. */
export type Backlog = number | undefined

/** The backlog after an event was handled. @param ageMs the age of the event, in milliseconds */
export function noteHandled(backlog: Backlog, ageMs: number, now: number): Backlog {
  return ageMs > (backlog === undefined ? LATE_MS : IN_TIME_MS) ? now : backlog
}

/** The backlog after time has passed. */
export function endBacklog(backlog: Backlog, now: number): Backlog {
  return backlog !== undefined && now - backlog >= OVER_AFTER_MS ? undefined : backlog
}
