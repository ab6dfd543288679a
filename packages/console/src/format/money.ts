import { numberFormat } from './intl.ts'

/** The digits after the point of a currency, as in ISO 4217: 2 for EUR, 0 for JPY, 3 for KWD. */
function digitsOf(currency: string): number {
  try {
    return numberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  } catch {
    // The provider sent something that is no currency code.
    return 2
  }
}

/** Minor units as text in the digits of the currency: `EUR 1,204.00`, `JPY 500`, `KWD 1.250`. */
export function formatMoney(amount: number, currency: string, locale?: string): string {
  const digits = digitsOf(currency)
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  const number = numberFormat(locale, options).format(amount / 10 ** digits)
  return `${currency.toUpperCase()}\u00a0${number}`
}

/** Minor units of text that a person typed, or undefined if it is no amount of the currency. */
export function parseMoney(text: string, currency: string): number | undefined {
  const digits = digitsOf(currency)
  const match = /^(\d{1,12})(?:\.(\d+))?$/.exec(text.trim().replaceAll(/[,\s](?=\d{3})/g, ''))
  if (match === null || (match[2] ?? '').length > digits) return undefined
  return Number(`${match[1]}${(match[2] ?? '').padEnd(digits, '0')}`)
}
