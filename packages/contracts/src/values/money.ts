/**
 * Amounts of money as text, and back. Everything that shows or reads an amount uses this file: the console, the CLI, alerts, the texts
 * of the API, statements and CSV. It asks no Intl for the digits of a currency, because Intl follows how people write money and changes
 * between browsers: it omits the digits of ISK, RSD and UGX, which the providers' amounts include.
 *
 * One list serves all three providers. It is that of the card processor (docs.stripe.com/currencies, "Zero-decimal" and "Three-decimal
 * currencies"). The reseller writes its 33 currencies as ISO 4217 does (developer.paddle.com/api-reference/currencies), which is the same
 * for these. The subscription biller: docs/decisions/subscription.md, "Amounts".
 */
const ZERO_DECIMAL = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '))
const THREE_DECIMAL = new Set('bhd jod kwd omr tnd'.split(' '))

/** The number of digits of the minor unit of a currency (ISO 4217 in lower case). */
export function decimalsOf(currency: string): number {
  return ZERO_DECIMAL.has(currency) ? 0 : THREE_DECIMAL.has(currency) ? 3 : 2
}

/**
 * An amount as a decimal number without its currency, e.g. `-12.50`. Exact, because nothing is divided.
 * @param minorUnits amount in minor units of the currency
 * @param currency ISO 4217 in lower case
 */
export function decimalAmount(minorUnits: number, currency: string): string {
  const decimals = decimalsOf(currency)
  const digits = String(Math.abs(minorUnits)).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const sign = minorUnits < 0 ? '-' : ''
  return decimals === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-decimals)}`
}

/**
 * An amount for people, e.g. `EUR 1,204.50`. It has the currency code, because "$" is the symbol of several currencies.
 * @param minorUnits amount in minor units of the currency
 * @param currency ISO 4217 in lower case
 */
export function formatMoney(minorUnits: number, currency: string): string
export function formatMoney(minorUnits: number | null, currency: string | null): string | null
export function formatMoney(minorUnits: number | null, currency: string | null): string | null {
  if (minorUnits === null || currency === null) return null
  const [whole = '', decimals] = decimalAmount(minorUnits, currency).split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
  return `${currency.toUpperCase()} ${grouped}${decimals === undefined ? '' : `.${decimals}`}`
}

/** Digits, either without separators or in groups of three, and decimals after a point. */
const TYPED_AMOUNT = /^(\d+|\d{1,3}(?:[, \u00a0]\d{3})+)(?:\.(\d+))?$/

/**
 * Reads an amount that a person typed, e.g. `1,204.5`.
 * @param currency ISO 4217 in any case
 * @returns minor units; undefined if the text is no amount, or has more decimals than the currency
 */
export function parseMoney(text: string, currency: string): number | undefined {
  const [, whole, decimals = ''] = TYPED_AMOUNT.exec(text.trim()) ?? []
  const digits = decimalsOf(currency.toLowerCase())
  if (whole === undefined || decimals.length > digits) return undefined
  const minorUnits = Number(`${whole.replaceAll(/\D/g, '')}${decimals.padEnd(digits, '0')}`)
  return Number.isSafeInteger(minorUnits) ? minorUnits : undefined
}
