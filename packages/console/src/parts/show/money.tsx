import { formatMoney } from '../../format/money.ts'

/** Minor units in the digits of their currency; a dash if no money moves. */
export function Money({
  amount,
  currency,
}: {
  amount: number | null | undefined
  currency: string | null | undefined
}) {
  if (amount === null || amount === undefined) return <span className="faint">–</span>
  if (currency === null || currency === undefined) return <span>{amount}</span>
  return <span style={{ whiteSpace: 'nowrap' }}>{formatMoney(amount, currency)}</span>
}
