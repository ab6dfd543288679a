/** Making a formatter costs a hundred times what using it does. */
const formats = new Map<string, Intl.NumberFormat>()

function formatOf(currency: string): Intl.NumberFormat {
  const known = formats.get(currency)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat('en-GB', { style: 'currency', currency, currencyDisplay: 'code' })
  formats.set(currency, format)
  return format
}

/**
 * An amount for people, e.g. `EUR 12.50`: the code instead of a sign, because "$" is several currencies.
 * @param minorUnits of the currency; how many make one comes from the runtime's ISO 4217 table
 */
export function formatMoney(minorUnits: number | null, currency: string | null): string | null {
  if (minorUnits === null || currency === null) return null
  const format = formatOf(currency)
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  // The no-break space that Intl puts behind the code breaks searches in mail programs.
  return format.format(minorUnits / 10 ** digits).replace(/\u00a0/g, ' ')
}
