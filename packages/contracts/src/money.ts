/**
 * Currencies whose amounts have no minor unit, and those with three digits of it, as the card processor counts them
 * (docs.stripe.com/currencies, "Zero-decimal" and "Three-decimal currencies"). Not those of the runtime's Intl: that
 * shows how people write money, and leaves the digits of HUF or COP off, which the amounts of providers have.
 */
const ZERO_DECIMAL = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '))
const THREE_DECIMAL = new Set('bhd jod kwd omr tnd'.split(' '))

function decimalsOf(currency: string): number {
  return ZERO_DECIMAL.has(currency) ? 0 : THREE_DECIMAL.has(currency) ? 3 : 2
}

const grouped = [0, 1, 2, 3].map(
  digits => new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
)

/**
 * An amount for people, e.g. `EUR 12.50`: the code instead of a sign, because "$" is several currencies.
 * @param minorUnits of the currency
 * @param currency ISO 4217 in lower case
 */
export function formatMoney(minorUnits: number | null, currency: string | null): string | null {
  if (minorUnits === null || currency === null) return null
  const digits = decimalsOf(currency)
  return `${currency.toUpperCase()} ${grouped[digits]?.format(minorUnits / 10 ** digits)}`
}
