import { z } from 'zod'

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
const ClockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'Give a time from 00:00 to 23:59')

/** A time zone by its name, such as Europe/Berlin. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'Give a name of the IANA time zone database, for example Europe/Berlin')
  .describe('A name of the IANA time zone database')

/** Hours of the day in which a channel is not notified. They begin at `from` on each of `days` and end at the next `to`. */
export const QuietHours = z
  .strictObject({
    time_zone: TimeZone,
    from: ClockTime.describe('Local time, HH:MM'),
    to: ClockTime.describe('Local time, HH:MM. Not after `from`: on the next day'),
    days: z
      .array(z.enum(DAYS))
      .min(1)
      .refine(days => new Set(days).size === days.length, 'Name each day once')
      .nullable()
      .default(null)
      .describe('The days on which quiet hours begin; null: every day'),
  })
  .refine(({ from, to, days }) => from !== to || (days !== null && days.length < DAYS.length), {
    path: ['to'],
    message: 'Quiet hours of 24 hours on every day would never end; name fewer days, or give another time',
  })
export type QuietHours = z.infer<typeof QuietHours>

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/**
 * When the quiet hours that contain a time end; null if the time is outside. Quiet hours that follow each other without a gap are one.
 * The bounds are local times: across a change to or from daylight saving time, quiet hours are an hour shorter or longer. A bound that
 * the clock skips is as much later as the clock skips; of a bound that comes twice, the first counts.
 */
export function quietUntil(atMs: number, quietHours: QuietHours | null): number | null {
  if (quietHours === null) return null
  let untilMs: number | null = null
  // At least one day of the week has a gap, so the end is reached after one step for each day.
  for (let step = 0; step <= DAYS.length; step++) {
    const endMs = endOfWindowAt(untilMs ?? atMs, quietHours)
    if (endMs === null) break
    untilMs = endMs
  }
  return untilMs
}

/** The end of the single window that contains a time; null if none does. */
function endOfWindowAt(atMs: number, { time_zone, from, to, days }: QuietHours): number | null {
  const today = Math.floor(localMs(atMs, time_zone) / DAY_MS)
  const lastsOverMidnight = to <= from
  // A window lasts at most 24 hours of the local clock, so it began today or yesterday.
  for (const day of [today, today - 1]) {
    // Day 0, the first of January 1970, was a Thursday.
    const name = DAYS[(((day + 3) % 7) + 7) % 7] as (typeof DAYS)[number]
    if (days !== null && !days.includes(name)) continue
    const startMs = instantOf(day * DAY_MS + minutesOf(from) * MINUTE_MS, time_zone)
    const endDay = lastsOverMidnight ? day + 1 : day
    const endMs = instantOf(endDay * DAY_MS + minutesOf(to) * MINUTE_MS, time_zone)
    if (startMs <= atMs && atMs < endMs) return endMs
  }
  return null
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
}

/** The instant of a local time, which is given as if it were UTC. */
function instantOf(local: number, timeZone: string): number {
  const offsetBefore = offsetMs(local - DAY_MS, timeZone)
  const offsetAfter = offsetMs(local + DAY_MS, timeZone)
  const candidates = [local - offsetBefore, local - offsetAfter].filter(
    candidate => localMs(candidate, timeZone) === local,
  )
  // The clock skips a local time without a candidate.
  return candidates.length === 0 ? local - offsetBefore : Math.min(...candidates)
}

function offsetMs(atMs: number, timeZone: string): number {
  return localMs(atMs, timeZone) - atMs
}

/** The local time of an instant, as if it were UTC. */
function localMs(atMs: number, timeZone: string): number {
  const wholeSeconds = Math.floor(atMs / 1000) * 1000
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(wholeSeconds)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
  return local + (atMs - wholeSeconds)
}

/** A format takes far longer to create than to use. There are about 600 time zones, and fewer than 3,000 fixed offsets. */
const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(timeZone: string): Intl.DateTimeFormat {
  // Names are valid in any case, and people write them.
  const key = timeZone.toLowerCase()
  const known = formats.get(key)
  if (known !== undefined) return known
  const numeric = 'numeric'
  const fields = {
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  } as const
  const format = new Intl.DateTimeFormat('en-US', { ...fields, timeZone, hourCycle: 'h23' })
  formats.set(key, format)
  return format
}

/** Offsets such as +01:00 are refused, because they ignore daylight saving time. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    return formatOf(name) !== undefined
  } catch {
    return false
  }
}
