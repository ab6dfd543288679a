import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { OffsetTracker } from './offset-tracker.ts'

const offsets = (...numbers: number[]) => numbers.map(BigInt)

function handedOut(...numbers: number[]): OffsetTracker {
  const tracker = new OffsetTracker()
  tracker.trackHandedOut(offsets(...numbers))
  return tracker
}

describe('what may be committed', () => {
  test.each([
    { name: 'nothing, while nothing is completed', out: [5, 6, 7], done: [], committable: undefined },
    { name: 'nothing, while the first is open', out: [5, 6, 7], done: [6, 7], committable: undefined },
    { name: 'the prefix up to the first open message', out: [5, 6, 7, 8], done: [6, 5, 8], committable: 7n },
    { name: 'all, as the offset behind the last', out: [5, 6, 7], done: [7, 6, 5], committable: 8n },
    { name: 'over gaps that compaction left', out: [5, 9, 40], done: [5, 9], committable: 40n },
    { name: 'nothing for an offset that was never handed out', out: [5], done: [4, 6], committable: undefined },
  ])('$name', ({ out, done, committable }) => {
    const tracker = handedOut(...out)
    for (const offset of offsets(...done)) tracker.complete(offset)
    expect(tracker.committable()).toBe(committable)
  })

  test('nothing twice', () => {
    const tracker = handedOut(5)
    tracker.complete(5n)
    tracker.committed(tracker.committable()!)
    expect(tracker.committable()).toBeUndefined()
  })

  test('nothing beyond an abandoned message', () => {
    const tracker = handedOut(5, 6)
    tracker.abandon(5n)
    tracker.complete(6n)
    expect(tracker.committable()).toBeUndefined()
    expect(tracker.openCount).toBe(0)
  })

  test('not a withdrawn message, until it is handed out and completed again', () => {
    const tracker = handedOut(5, 6, 7)
    tracker.withdraw(offsets(6, 7))
    tracker.complete(5n)
    tracker.complete(7n)
    expect(tracker.committable()).toBe(6n)
    expect(tracker.openCount).toBe(0)
    tracker.trackHandedOut(offsets(6, 7))
    expect(tracker.openCount).toBe(2)
    expect(tracker.committable()).toBe(6n)
  })
})

describe('how many leading messages of a fetch were seen before', () => {
  test.each([
    { name: 'none of a first fetch', out: [], committed: undefined, fetched: [3, 4], seen: 0 },
    { name: 'none of what follows', out: [3, 4], committed: undefined, fetched: [5, 6], seen: 0 },
    {
      name: 'all that are still at work after a rebalance',
      out: [3, 4],
      committed: undefined,
      fetched: [3, 4],
      seen: 2,
    },
    { name: 'those below the new ones', out: [3, 4], committed: undefined, fetched: [3, 4, 5], seen: 2 },
    { name: 'none of an empty fetch', out: [3], committed: undefined, fetched: [], seen: 0 },
    {
      name: 'none when the log was replaced below what was committed',
      out: [3, 4],
      committed: 5,
      fetched: [0, 1],
      seen: 0,
    },
  ])('$name', ({ out, committed, fetched, seen }) => {
    const tracker = handedOut(...out)
    for (const offset of offsets(...out)) tracker.complete(offset)
    if (committed !== undefined) tracker.committed(BigInt(committed))
    expect(tracker.countSeen(offsets(...fetched))).toBe(seen)
  })

  test('after the log was replaced, what was at work before can no longer be completed into the new one', () => {
    const tracker = handedOut(3, 4)
    tracker.complete(3n)
    tracker.committed(tracker.committable()!)
    expect(tracker.countSeen(offsets(0, 1))).toBe(0)
    tracker.trackHandedOut(offsets(0, 1))
    tracker.complete(4n)
    expect(tracker.committable()).toBeUndefined()
    expect(tracker.openCount).toBe(2)
  })
})

test('whatever the order of completions, exactly the completed prefix is committable', async () => {
  const cases = fc
    .uniqueArray(fc.nat(1_000), { minLength: 1, maxLength: 40 })
    .map(numbers => numbers.toSorted((a, b) => a - b))
    .chain(out => fc.tuple(fc.constant(out), fc.shuffledSubarray(out)))
  await fc.assert(
    fc.property(cases, ([out, done]) => {
      const tracker = handedOut(...out)
      for (const offset of done) tracker.complete(BigInt(offset))
      const firstOpen = out.find(offset => !done.includes(offset))
      const expected = firstOpen === undefined ? BigInt(out.at(-1)!) + 1n : BigInt(firstOpen)
      expect(tracker.committable()).toBe(expected === BigInt(out[0]!) ? undefined : expected)
      expect(tracker.openCount).toBe(out.length - done.length)
    }),
  )
})
