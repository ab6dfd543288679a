/** Formats of Intl by their locale and options, because making one takes longer than using it a hundred times. */
const dates = new Map<string, Intl.DateTimeFormat>()
const numbers = new Map<string, Intl.NumberFormat>()

export function dateFormat(locale: string | undefined, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return madeOnce(dates, locale, options, () => new Intl.DateTimeFormat(locale, options))
}

export function numberFormat(locale: string | undefined, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return madeOnce(numbers, locale, options, () => new Intl.NumberFormat(locale, options))
}

function madeOnce<F>(made: Map<string, F>, locale: string | undefined, options: object, make: () => F): F {
  const key = JSON.stringify([locale, options])
  const known = made.get(key)
  if (known !== undefined) return known
  const format = make()
  made.set(key, format)
  return format
}
