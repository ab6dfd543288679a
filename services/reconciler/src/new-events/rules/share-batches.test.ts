import { expect, test } from 'vitest'
import { batchesOfAllEvents, NEW_EVENT_BATCHES } from './share-batches.ts'

test('the consumer of all events leaves the lane its half only while the lane has work', () => {
  expect(batchesOfAllEvents(false)).toBe(2 * NEW_EVENT_BATCHES)
  expect(batchesOfAllEvents(true)).toBe(NEW_EVENT_BATCHES)
})
