import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ClockReading, estimateAt, type OffsetEstimate, refineEstimate } from './offset-estimate.ts'

/** One exchange with another clock: the duration of each way, and the pause after the previous exchange. */
const exchanges = fc.array(
  fc.record({
    pauseMs: fc.double({ min: 0, max: 30_000, noNaN: true }),
    thereMs: fc.double({ min: 0, max: 800, noNaN: true }),
    backMs: fc.double({ min: 0, max: 800, noNaN: true }),
  }),
  { minLength: 1, maxLength: 30 },
)
const offsets = fc.double({ min: -1_000_000, max: 1_000_000, noNaN: true })
/** The drift that NTP may cause between two clocks, in milliseconds per millisecond. */
const drifts = fc.double({ min: -0.001, max: 0.001, noNaN: true })

type Exchange = { pauseMs: number; thereMs: number; backMs: number }

/** Reads a clock that is `offsetMs` ahead at local time 0 and drifts. Returns each reading with the true offset. */
function readings(list: readonly Exchange[], offsetMs: number, drift: number): [ClockReading, number][] {
  let local = 0
  const truth = (at: number) => offsetMs + at * drift
  return list.map(({ pauseMs, thereMs, backMs }) => {
    const sentAtMs = local + pauseMs
    const readAtMs = sentAtMs + thereMs
    local = readAtMs + backMs
    return [{ sentAtMs, receivedAtMs: local, remoteMs: Math.floor(readAtMs + truth(readAtMs)) }, truth(local)]
  })
}

const ROUNDING_MS = 1e-6

test('the true offset lies within the stated error, however unequal the two ways and however the clocks drift', () => {
  fc.assert(
    fc.property(exchanges, offsets, drifts, (list, offsetMs, drift) => {
      let estimate: OffsetEstimate | undefined
      for (const [reading, truth] of readings(list, offsetMs, drift)) {
        estimate = refineEstimate(estimate, reading)
        expect(Math.abs(estimate.offsetMs - truth)).toBeLessThanOrEqual(estimate.errorMs + ROUNDING_MS)
      }
    }),
  )
})

test('a further reading never makes the estimate less certain than that reading or the aged estimate alone', () => {
  fc.assert(
    fc.property(exchanges, offsets, drifts, (list, offsetMs, drift) => {
      let estimate: OffsetEstimate | undefined
      for (const [reading] of readings(list, offsetMs, drift)) {
        const alone = refineEstimate(undefined, reading)
        const aged = estimate === undefined ? undefined : estimateAt(estimate, reading.receivedAtMs)
        estimate = refineEstimate(estimate, reading)
        expect(estimate.errorMs).toBeLessThanOrEqual(
          Math.min(alone.errorMs, aged?.errorMs ?? Number.POSITIVE_INFINITY) + ROUNDING_MS,
        )
      }
    }),
  )
})

test('the reading with the short round trip decides, when a slow one comes before and after it', () => {
  const slow = (at: number) => ({ sentAtMs: at, receivedAtMs: at + 1_000, remoteMs: 5_000 + at + 900 })
  const fast = { sentAtMs: 2_000, receivedAtMs: 2_002, remoteMs: 7_001 }
  const before = refineEstimate(undefined, slow(0))
  const sharp = refineEstimate(before, fast)
  const after = refineEstimate(sharp, slow(3_000))
  expect(before.errorMs).toBeGreaterThan(500)
  expect(sharp).toMatchObject({ offsetMs: expect.closeTo(5_000, -1), errorMs: expect.closeTo(1.5, 1) })
  expect(Math.abs(after.offsetMs - 5_000)).toBeLessThanOrEqual(after.errorMs)
  expect(after.errorMs).toBeLessThan(4)
})

test('a stepped clock is believed at its next reading', () => {
  const reading = (at: number, aheadMs: number) => ({ sentAtMs: at, receivedAtMs: at + 2, remoteMs: at + 1 + aheadMs })
  const known = refineEstimate(undefined, reading(0, 5_000))
  const stepped = refineEstimate(known, reading(10_000, -595_000))
  expect(Math.abs(stepped.offsetMs + 595_000)).toBeLessThanOrEqual(stepped.errorMs)
  expect(stepped.errorMs).toBeLessThan(2)
})
