/** Periods of whole days in UTC, as statements count them. A range ends before the day `to`. */
export interface DayRange {
  /** As `2026-07-01`. */
  readonly from: string
  readonly to: string
}

const MONTHS = 24
const QUARTERS = 8

/** The quarter that contains a time, moved by whole quarters. */
function quarterOf(atMs: number, move: number): DayRange {
  const date = new Date(atMs)
  const first = Math.floor(date.getUTCMonth() / 3) * 3 + 3 * move
  return rangeOfMonths(date.getUTCFullYear(), first, 3)
}

function rangeOfMonths(year: number, month: number, count: number): DayRange {
  return { from: isoDay(Date.UTC(year, month)), to: isoDay(Date.UTC(year, month + count)) }
}

function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

const DAY_MS = 86_400_000

/** The periods to choose from: yesterday, days until now, quarters and months, the newest first. */
export function rangeOptions(nowMs: number, locale?: string): { value: string; label: string }[] {
  const date = new Date(nowMs)
  const today = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate())
  const until = (days: number) => ({ from: isoDay(today - (days - 1) * DAY_MS), to: isoDay(today + DAY_MS) })
  const quarters = Array.from({ length: QUARTERS }, (_, ago) => quarterOf(nowMs, -ago))
  const months = Array.from({ length: MONTHS }, (_, ago) =>
    rangeOfMonths(date.getUTCFullYear(), date.getUTCMonth() - ago, 1),
  )
  return [
    { value: rangeValue({ from: isoDay(today - DAY_MS), to: isoDay(today) }), label: 'Yesterday' },
    { value: rangeValue(until(7)), label: 'Last 7 days' },
    { value: rangeValue(until(30)), label: 'Last 30 days' },
    ...[...quarters, ...months].map(range => ({ value: rangeValue(range), label: nameRange(range, locale) })),
  ]
}

export function rangeValue({ from, to }: DayRange): string {
  return `${from}/${to}`
}

/** The month that a range is, as `2026-11`; undefined if it is none. */
export function monthOfRange({ from, to }: DayRange): string | undefined {
  const [year = 0, month = 0] = from.split('-').map(Number)
  const whole = rangeOfMonths(year, month - 1, 1)
  return whole.from === from && whole.to === to ? from.slice(0, 7) : undefined
}

/** The range of a month, as `2026-11`. */
export function rangeOfMonth(month: string): DayRange {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return rangeOfMonths(year, number - 1, 1)
}

/** The range in words: `Q3 2026`, `November 2026`, or its first and last day. */
export function nameRange({ from, to }: DayRange, locale?: string): string {
  const begin = new Date(`${from}T00:00:00Z`)
  const year = begin.getUTCFullYear()
  const month = begin.getUTCMonth()
  const is = (range: DayRange) => range.from === from && range.to === to
  if (month % 3 === 0 && is(rangeOfMonths(year, month, 3))) return `Q${month / 3 + 1} ${year}`
  if (is(rangeOfMonths(year, month, 1))) return format(begin.getTime(), { month: 'long', year: 'numeric' }, locale)
  const shown = (atMs: number) => format(atMs, { day: 'numeric', month: 'short', year: 'numeric' }, locale)
  const last = Date.parse(`${to}T00:00:00Z`) - DAY_MS
  return last <= begin.getTime() ? shown(begin.getTime()) : `${shown(begin.getTime())} to ${shown(last)}`
}

function format(atMs: number, options: Intl.DateTimeFormatOptions, locale: string | undefined): string {
  return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(atMs)
}
