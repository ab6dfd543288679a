/** Times in messages. The texts hold ISO times, and `withReadableTimes` shows them in the reader's time zone at the end. */
import type { NextStep } from './alert-description.ts'

/** For whom a message is, and when it is made. */
export interface Reader {
  /** A name of the IANA time zone database. */
  readonly timeZone: string
  readonly nowMs: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Replaces the ISO times of a text by `2026-11-21 10:58:41 CET`, and those of `clockTime` by `10:58 CET`. */
export function withReadableTimes(text: string, timeZone: string): string {
  return text.replace(/(\d{4}-\d\d-\d\dT\d\d:\d\d)(?::(\d\d)\.\d{3})?Z/g, (_, minute: string, second?: string) => {
    const { date, time, zone } = partsOf(Date.parse(`${minute}Z`), timeZone)
    return second === undefined ? `${time} ${zone}` : `${date} ${time}:${second} ${zone}`
  })
}

/** Steps with their times in UTC, for readers whose time zone is not known. */
export function stepsInUtc({ sentence, steps }: NextStep): { sentence: string; steps: string[] } {
  const shown = (text: string) => withReadableTimes(text, 'UTC')
  return { sentence: shown(sentence), steps: steps.map(shown) }
}

/** The time of day alone if the other time is less than half a day apart, in a form for `withReadableTimes`. */
export function clockTime(iso: string, other: string): string {
  return Math.abs(Date.parse(iso) - Date.parse(other)) < DAY_MS / 2 ? `${iso.slice(0, 16)}Z` : iso
}

/** The time with how long ago it was, e.g. `…, 4 minutes ago`, if it has passed. */
export function timeWithAge(iso: string, nowMs: number): string {
  const ageMs = nowMs - Date.parse(iso)
  if (ageMs < 0) return iso
  if (ageMs < MINUTE_MS) return `${iso}, just now`
  const [count, unit] =
    ageMs < HOUR_MS
      ? [ageMs / MINUTE_MS, 'minute']
      : ageMs < 2 * DAY_MS
        ? [ageMs / HOUR_MS, 'hour']
        : [ageMs / DAY_MS, 'day']
  const whole = Math.floor(count)
  return `${iso}, ${whole} ${unit}${whole === 1 ? '' : 's'} ago`
}

/** Zones have short names in some languages only: `CET` in British English, `PST` in American English. */
const LOCALES = ['en-GB', 'en-US'] as const

/** A format takes far longer to create than to use. */
const formats = new Map<string, readonly Intl.DateTimeFormat[]>()

function formatsOf(timeZone: string): readonly Intl.DateTimeFormat[] {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const
  const made = LOCALES.map(
    locale => new Intl.DateTimeFormat(locale, { ...digits, timeZone, hourCycle: 'h23', timeZoneName: 'short' }),
  )
  formats.set(timeZone, made)
  return made
}

function partsOf(atMs: number, timeZone: string): { date: string; time: string; zone: string } {
  const names = formatsOf(timeZone).map(
    format => new Map(format.formatToParts(atMs).map(({ type, value }) => [type, value] as const)),
  )
  const part = (type: Intl.DateTimeFormatPartTypes) => names[0]?.get(type) ?? ''
  const zones = names.map(parts => parts.get('timeZoneName') ?? '')
  return {
    date: `${part('year')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}`,
    zone: zones.find(name => !/[+\d]/.test(name)) ?? zones[0] ?? timeZone,
  }
}
