import { formatMoney as formatAmount } from '@backstop/contracts/money'

export { decimalAmount, parseMoney } from '@backstop/contracts/money'

/** Minor units as text in the digits of the currency: `EUR 1,204.00`, `JPY 500`. The space does not break. */
export function formatMoney(amount: number, currency: string): string {
  return formatAmount(amount, currency).replace(' ', '\u00a0')
}
