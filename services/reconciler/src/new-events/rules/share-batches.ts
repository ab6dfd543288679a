/** Batches that are decided at once. More would need more memory and be no faster. */
const MAX_BATCHES_AT_ONCE = 4

/** How many batches of new events the lane decides at once: half of all. */
export const NEW_EVENT_BATCHES = MAX_BATCHES_AT_ONCE / 2

/** How many batches the consumer of all events may decide at once. */
export function batchesOfAllEvents(hasLaneWork: boolean): number {
  return hasLaneWork ? MAX_BATCHES_AT_ONCE - NEW_EVENT_BATCHES : MAX_BATCHES_AT_ONCE
}
