/** The day of a time in the zone of the reader, as a date input has it: `2026-11-23`. */
export function dateOf(at: string, moveMs = 0): string {
  const date = new Date(Date.parse(at) + moveMs)
  if (Number.isNaN(date.getTime())) return ''
  const pad = (part: number) => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
}

/** Midnight of a day in the zone of the reader, moved by whole days. Undefined without a day. */
export function startOfDay(day: string, moveDays: number): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (match === null) return undefined
  return new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + moveDays).toISOString()
}

/** A period in words, in the zone of the reader: `22 Nov to 23 Nov`, `since 16 Nov, 14:00`. */
export function describePeriod(
  { from, to }: { from?: string | undefined; to?: string | undefined },
  locale?: string,
): string | undefined {
  const day = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short' })
  const time = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
  const isMidnight = (at: string) => startOfDay(dateOf(at), 0) === new Date(at).toISOString()
  const first = from === undefined ? undefined : (isMidnight(from) ? day : time).format(Date.parse(from))
  const last =
    to === undefined ? undefined : isMidnight(to) ? day.format(Date.parse(to) - 1) : time.format(Date.parse(to))
  if (first !== undefined && last !== undefined) return first === last ? first : `${first} to ${last}`
  if (first !== undefined) return `since ${first}`
  return last === undefined ? undefined : `until ${last}`
}

/** The month of a time in UTC, moved by whole months. */
export function monthOf(atMs: number, move = 0): string {
  const date = new Date(atMs)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + move)).toISOString().slice(0, 7)
}
