import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyOffset, initialTime, remainingExcessMs, timeAt } from './corrected-time.ts'

const start = initialTime(1_000_000)

const step = fc.record({
  afterMs: fc.double({ min: 0, max: 100_000, noNaN: true }),
  offsetMs: fc.double({ min: 0, max: 2_000_000, noNaN: true }),
})

test('it never goes back, and is never behind its offset, whichever offsets it takes over', () => {
  fc.assert(
    fc.property(fc.array(step), steps => {
      let time = start
      let local = 0
      let last = timeAt(time, local)
      for (const { afterMs, offsetMs } of steps) {
        for (const part of [0.25, 0.5, 1]) {
          const now = timeAt(time, local + afterMs * part)
          expect(now).toBeGreaterThanOrEqual(last)
          last = now
        }
        local += afterMs
        time = applyOffset(time, offsetMs, local)
        const now = timeAt(time, local)
        expect(now).toBeGreaterThanOrEqual(last)
        expect(now).toBeGreaterThanOrEqual(Math.floor(local + offsetMs))
        last = now
      }
    }),
  )
})

test('an offset that is larger applies at once', () => {
  expect(timeAt(applyOffset(start, 1_600_000, 10), 10)).toBe(1_600_010)
})

test('an offset that is smaller by 600 s applies over 1,200 s, at half speed', () => {
  const time = applyOffset(start, 400_000, 0)
  expect(timeAt(time, 0)).toBe(1_000_000)
  expect(timeAt(time, 10_000)).toBe(1_005_000)
  expect(remainingExcessMs(time, 600_000)).toBe(300_000)
  expect(timeAt(time, 1_200_000)).toBe(1_600_000)
  expect(timeAt(time, 1_300_000)).toBe(1_700_000)
})

test('it is whole milliseconds, as headers and documents need them', () => {
  expect(timeAt(initialTime(0.4), 7.9)).toBe(8)
})
