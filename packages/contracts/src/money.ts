/**
 * Currencies without a minor unit, and with a minor unit of three digits, as the card processor defines them (docs.stripe.com/currencies,
 * "Zero-decimal" and "Three-decimal currencies"). Intl follows how people write money: it omits the digits of HUF and COP, which the
 * providers' amounts include.
 */
const ZERO_DECIMAL = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '))
const THREE_DECIMAL = new Set('bhd jod kwd omr tnd'.split(' '))

/** The number of digits of the minor unit of a currency (ISO 4217 in lower case). */
export function decimalsOf(currency: string): number {
  return ZERO_DECIMAL.has(currency) ? 0 : THREE_DECIMAL.has(currency) ? 3 : 2
}

const FORMAT_BY_DECIMALS = [0, 1, 2, 3].map(
  digits => new Intl.NumberFormat('en-GB', { minimumFractionDigits: digits, maximumFractionDigits: digits }),
)

/**
 * An amount as a decimal number without its currency, e.g. `-12.50`.
 * @param minorUnits amount in minor units of the currency
 * @param currency ISO 4217 in lower case
 */
export function decimalAmount(minorUnits: number, currency: string): string {
  return (minorUnits / 10 ** decimalsOf(currency)).toFixed(decimalsOf(currency))
}

/**
 * An amount for people, e.g. `EUR 12.50`. It has the currency code, because "$" is the symbol of several currencies.
 * @param minorUnits amount in minor units of the currency
 * @param currency ISO 4217 in lower case
 */
export function formatMoney(minorUnits: number | null, currency: string | null): string | null {
  if (minorUnits === null || currency === null) return null
  const digits = decimalsOf(currency)
  return `${currency.toUpperCase()} ${FORMAT_BY_DECIMALS[digits]?.format(minorUnits / 10 ** digits)}`
}
