import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { QuietHours, quietUntil } from './quiet-hours.ts'

const hours = (facts: Partial<QuietHours> = {}): QuietHours => ({
  time_zone: 'Europe/Berlin',
  from: '22:00',
  to: '07:00',
  days: null,
  ...facts,
})
const until = (at: string, quietHours: QuietHours | null) => {
  const end = quietUntil(Date.parse(at), quietHours)
  return end === null ? null : new Date(end).toISOString().replace(':00.000Z', 'Z')
}

describe('quiet hours', () => {
  test.each([
    { name: 'before they begin', at: '2026-11-20T20:59:59Z', ends: null },
    { name: 'when they begin', at: '2026-11-20T21:00:00Z', ends: '2026-11-21T06:00Z' },
    { name: 'after midnight', at: '2026-11-21T00:30:00Z', ends: '2026-11-21T06:00Z' },
    { name: 'in the last second', at: '2026-11-21T05:59:59Z', ends: '2026-11-21T06:00Z' },
    { name: 'when they end', at: '2026-11-21T06:00:00Z', ends: null },
  ])('over midnight, $name', ({ at, ends }) => {
    expect(until(at, hours())).toBe(ends)
  })

  test.each([
    { name: 'the clock goes forward in the night', at: '2026-03-28T21:30:00Z', ends: '2026-03-29T05:00Z' },
    { name: 'the clock goes back in the night', at: '2026-10-24T20:30:00Z', ends: '2026-10-25T06:00Z' },
  ])('in Berlin end at seven local time when $name', ({ at, ends }) => {
    expect(until(at, hours())).toBe(ends)
  })

  test.each([
    { name: 'the clock goes forward in the night', at: '2026-03-08T03:30:00Z', ends: '2026-03-08T11:00Z' },
    { name: 'the clock goes back in the night', at: '2026-11-01T02:30:00Z', ends: '2026-11-01T12:00Z' },
  ])('in New York end at seven local time when $name', ({ at, ends }) => {
    expect(until(at, hours({ time_zone: 'America/New_York' }))).toBe(ends)
  })

  test('end later by the skipped hour if the clock skips their end', () => {
    // In Berlin 01:59 is followed by 03:00.
    expect(until('2026-03-29T00:30:00Z', hours({ to: '02:30' }))).toBe('2026-03-29T01:30Z')
  })

  test('end at the first of two equal times, and do not begin again at the second', () => {
    // In Berlin 02:00 to 02:59 comes twice.
    expect(until('2026-10-24T23:30:00Z', hours({ to: '02:30' }))).toBe('2026-10-25T00:30Z')
    expect(until('2026-10-25T01:15:00Z', hours({ to: '02:30' }))).toBeNull()
  })

  test('begin on the named days only, also for the part after midnight', () => {
    const onFriday = hours({ days: ['fri'] })
    expect(until('2026-11-20T22:00:00Z', onFriday)).toBe('2026-11-21T06:00Z')
    expect(until('2026-11-21T05:00:00Z', onFriday)).toBe('2026-11-21T06:00Z')
    expect(until('2026-11-20T05:00:00Z', onFriday)).toBeNull()
    expect(until('2026-11-21T22:00:00Z', onFriday)).toBeNull()
  })

  test('that follow each other without a gap end with the last', () => {
    const weekend = hours({ from: '00:00', to: '00:00', days: ['sat', 'sun'] })
    expect(until('2026-11-20T22:59:59Z', weekend)).toBeNull()
    expect(until('2026-11-21T10:00:00Z', weekend)).toBe('2026-11-22T23:00Z')
  })

  test('of a channel without any never hold', () => {
    expect(until('2026-11-21T00:00:00Z', null)).toBeNull()
  })
})

describe('any quiet hours', () => {
  const ZONES = [
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/Sao_Paulo',
    'UTC',
  ]
  const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
  const clock = fc
    .integer({ min: 0, max: 1_439 })
    .map(all => `${String(Math.floor(all / 60)).padStart(2, '0')}:${String(all % 60).padStart(2, '0')}`)
  const any = fc
    .record({
      time_zone: fc.constantFrom(...ZONES),
      from: clock,
      to: clock,
      days: fc.option(fc.uniqueArray(fc.constantFrom(...DAYS), { minLength: 1 })),
    })
    .filter(one => QuietHours.safeParse(one).success)
  const time = fc.integer({ min: Date.parse('2024-01-01'), max: Date.parse('2029-01-01') })

  test('end within a week and a day, and are over at their end', () => {
    fc.assert(
      fc.property(any, time, (quietHours, atMs) => {
        const endMs = quietUntil(atMs, quietHours)
        if (endMs === null) return
        expect(endMs).toBeGreaterThan(atMs)
        expect(endMs - atMs).toBeLessThan(8 * 86_400_000)
        expect(quietUntil(endMs, quietHours)).toBeNull()
      }),
    )
  })

  test('have one end for all of their times', () => {
    fc.assert(
      fc.property(any, time, fc.double({ min: 0, max: 1, noNaN: true }), (quietHours, atMs, share) => {
        const endMs = quietUntil(atMs, quietHours)
        if (endMs === null) return
        expect(quietUntil(Math.floor(atMs + (endMs - 1 - atMs) * share), quietHours)).toBe(endMs)
      }),
    )
  })

  test('end at the local time that they name, unless the clock skips it', () => {
    fc.assert(
      fc.property(any, time, (quietHours, atMs) => {
        const endMs = quietUntil(atMs, quietHours)
        if (endMs === null) return
        const { time_zone: timeZone, to } = quietHours
        const shown = (ms: number) =>
          new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(
            ms,
          )
        const wasSkipped = shown(endMs - 60_000) < to && shown(endMs) > to
        expect(shown(endMs) === to || wasSkipped).toBe(true)
      }),
    )
  })
})

test.each([
  { name: 'an offset', change: { time_zone: '+01:00' } },
  { name: 'an unknown zone', change: { time_zone: 'Europe/Bonn' } },
  { name: 'an hour that does not exist', change: { from: '24:00' } },
  { name: 'all hours of every day', change: { from: '08:00', to: '08:00' } },
  { name: 'a day twice', change: { days: ['mon', 'mon'] } },
])('$name is refused', ({ change }) => {
  expect(QuietHours.safeParse({ ...hours(), ...change }).success).toBe(false)
})
