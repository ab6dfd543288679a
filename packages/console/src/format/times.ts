import { dateFormat } from './intl.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/**
 * A time for people: relative within a day, otherwise the date. Clocks differ and a page counts in steps, so a time less than a minute ahead is
 * one that is just over.
 */
export function formatTime(atMs: number, nowMs: number, locale?: string): string {
  const agoMs = nowMs - atMs
  const distanceMs = Math.abs(agoMs)
  if (distanceMs < DAY_MS) {
    if (distanceMs < MINUTE_MS) return 'just now'
    const text = formatDuration(distanceMs)
    return agoMs >= 0 ? `${text} ago` : `in ${text}`
  }
  const isThisYear = new Date(atMs).getFullYear() === new Date(nowMs).getFullYear()
  const date = dateFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? { hour: '2-digit', minute: '2-digit' } : { year: 'numeric' }),
  })
  return date.format(atMs)
}

/** The exact time in the zone of the reader, with the zone. */
export function formatExactTime(atMs: number, locale?: string): string {
  return dateFormat(locale, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(atMs)
}

/** A day with the time of day, in the zone of the reader. */
export function formatDayAndTime(atMs: number, locale?: string): string {
  return dateFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }).format(atMs)
}

/** The time of day: `14:02`. */
export function formatClock(atMs: number, locale?: string): string {
  return dateFormat(locale, { hour: '2-digit', minute: '2-digit' }).format(atMs)
}

/** The forms of a time in the sentences of the API: ISO 8601, `2026-11-27 02:49:33 UTC`, `on 2026-11-27 at 02:49 UTC` and `at 02:49 UTC`. */
const UTC_TIMES =
  /(?<at>\d{4}-\d\d-\d\dT[\d:.]+Z)|(?<date>\d{4}-\d\d-\d\d)(?: at)? (?<clock>\d\d:\d\d(?::\d\d)?) UTC|at (?<only>\d\d:\d\d) UTC/g

/**
 * A sentence of the API with its times in the zone of the reader.
 * @param near a time that is at most some hours from a time without a date; without it such a time stays in UTC
 */
export function localizeTimes(sentence: string, near?: string | null, locale?: string): string {
  const day = { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' } as const
  return sentence.replaceAll(UTC_TIMES, (text, ...found) => {
    const { at, date, clock = '', only } = found.at(-1) as Record<string, string | undefined>
    if (only !== undefined) {
      return near == null ? text : `at ${formatClock(Date.parse(`${near.slice(0, 10)}T${only}:00Z`), locale)}`
    }
    const atMs = Date.parse(at ?? `${date}T${clock}Z`)
    return dateFormat(locale, clock.length > 5 ? { ...day, second: '2-digit' } : day).format(atMs)
  })
}

/** A duration in its largest unit: `40 s`, `12 min`, `3 h`, `5 d`. */
export function formatDuration(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.round(ms / 1_000)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`
  return `${Math.floor(ms / DAY_MS)} d`
}

/** A time as a `datetime-local` field shows it: in the zone of the reader, to the minute. */
export function localMinute(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * MINUTE_MS
  return new Date(atMs - offsetMs).toISOString().slice(0, 16)
}
