/** Formats of Intl by their locale and options, because making one takes longer than using it a hundred times. */
const dates = new Map<string, Intl.DateTimeFormat>()

export function dateFormat(locale: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options])
  const known = dates.get(key)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat(locale, options)
  dates.set(key, format)
  return format
}
