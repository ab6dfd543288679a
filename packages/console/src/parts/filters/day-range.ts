/** Periods of whole days in UTC, as statements count them. A range ends before the day `to`. */
export interface DayRange {
  /** As `2026-07-01`. */
  readonly from: string
  readonly to: string
}

const MONTHS = 24
const QUARTERS = 8

/** The quarter that contains a time, moved by whole quarters. */
export function quarterOf(atMs: number, move: number): DayRange {
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

/**
 * The periods to choose from: yesterday, days until now, quarters and months, the newest first. Each period is there
 * once: on 30 November, the last 30 days are also the month, and a choice cannot have two equal values.
 */
export function rangeOptions(nowMs: number, locale?: string): { value: string; label: string }[] {
  const date = new Date(nowMs)
  const quarters = Array.from({ length: QUARTERS }, (_, ago) => quarterOf(nowMs, -ago))
  const months = Array.from({ length: MONTHS }, (_, ago) =>
    rangeOfMonths(date.getUTCFullYear(), date.getUTCMonth() - ago, 1),
  )
  const labels = new Map([
    [rangeValue(yesterdayOf(nowMs)), 'Yesterday'],
    [rangeValue(lastDays(nowMs, 7)), 'Last 7 days'],
    [rangeValue(lastDays(nowMs, 30)), 'Last 30 days'],
  ])
  for (const range of [...quarters, ...months]) {
    const [value, name] = [rangeValue(range), nameRange(range, locale)]
    const label = labels.get(value)
    labels.set(value, label === undefined ? name : `${name} (${label.toLowerCase()})`)
  }
  return Array.from(labels, ([value, label]) => ({ value, label }))
}

/** The day before a time. */
export function yesterdayOf(nowMs: number): DayRange {
  return { from: isoDay(nowMs - DAY_MS), to: isoDay(nowMs) }
}

/** So many days, of which today is the last. */
export function lastDays(nowMs: number, days: number): DayRange {
  return { from: isoDay(nowMs - (days - 1) * DAY_MS), to: isoDay(nowMs + DAY_MS) }
}

/** The period of the same length before: a month before a month, a quarter before a quarter, otherwise as many days. */
export function rangeBefore(range: DayRange): DayRange {
  const begin = new Date(`${range.from}T00:00:00Z`)
  const months = [1, 3].find(count => isMonths(range, count))
  if (months !== undefined) return rangeOfMonths(begin.getUTCFullYear(), begin.getUTCMonth() - months, months)
  const lengthMs = Date.parse(`${range.to}T00:00:00Z`) - begin.getTime()
  return { from: isoDay(begin.getTime() - lengthMs), to: range.from }
}

export function rangeValue({ from, to }: DayRange): string {
  return `${from}/${to}`
}

/** Whether a range is so many whole months: one, or the three of a quarter. */
function isMonths({ from, to }: DayRange, count: number): boolean {
  const [year = 0, month = 0] = from.split('-').map(Number)
  const whole = rangeOfMonths(year, month - 1, count)
  return (month - 1) % count === 0 && whole.from === from && whole.to === to
}

/** The month that a range is, as `2026-11`; undefined if it is none. */
export function monthOfRange(range: DayRange): string | undefined {
  return isMonths(range, 1) ? range.from.slice(0, 7) : undefined
}

/** The range of a month, as `2026-11`. */
export function rangeOfMonth(month: string): DayRange {
  const [year = 0, number = 0] = month.split('-').map(Number)
  return rangeOfMonths(year, number - 1, 1)
}

/** The range in words: `Q3 2026`, `November 2026`, or its first and last day. */
export function nameRange(range: DayRange, locale?: string): string {
  const { from, to } = range
  const begin = new Date(`${from}T00:00:00Z`)
  if (isMonths(range, 3)) return `Q${begin.getUTCMonth() / 3 + 1} ${begin.getUTCFullYear()}`
  if (isMonths(range, 1)) return format(begin.getTime(), { month: 'long', year: 'numeric' }, locale)
  const shown = (atMs: number) => format(atMs, { day: 'numeric', month: 'short', year: 'numeric' }, locale)
  const last = Date.parse(`${to}T00:00:00Z`) - DAY_MS
  return last <= begin.getTime() ? shown(begin.getTime()) : `${shown(begin.getTime())} to ${shown(last)}`
}

function format(atMs: number, options: Intl.DateTimeFormatOptions, locale: string | undefined): string {
  return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(atMs)
}
