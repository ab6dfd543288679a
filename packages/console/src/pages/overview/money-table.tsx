import type { Stats } from '../../api/actions.ts'
import { Money } from '../../parts/show/index.ts'
import { moneyRowsOf } from './money-rows.ts'
import classes from './overview.module.css'

/** The refunded money of each currency: all of it, and the part that nothing explains. */
export function MoneyTable({ totals }: Pick<Stats, 'totals'>) {
  const rows = moneyRowsOf(totals)
  if (rows.length === 0) return <p className="dim">No money was refunded.</p>
  const hasFailed = rows.some(({ notCarriedOut }) => notCarriedOut > 0)
  return (
    <table className={`table ${classes.table}`}>
      <thead>
        <tr>
          <th>Currency</th>
          <th>Refunds</th>
          <th>Refunded</th>
          <th>Unexplained</th>
          {hasFailed && <th title="Also rejected or reversed; in no other number">Failed or canceled</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ currency, isTest, count, amount, unexplained, notCarriedOut }) => (
          <tr key={`${currency} ${isTest}`}>
            <td>
              {currency.toUpperCase()}
              {isTest && <span className="dim"> test</span>}
            </td>
            <td data-label="Refunds">{count.toLocaleString('en')}</td>
            <td data-label="Refunded">
              <Money amount={amount} currency={currency} />
            </td>
            <td data-label="Unexplained" className={unexplained > 0 && !isTest ? classes.alarm : undefined}>
              {unexplained > 0 ? <Money amount={unexplained} currency={currency} /> : <span className="faint">–</span>}
            </td>
            {hasFailed && (
              <td data-label="Failed or canceled" className="dim">
                {notCarriedOut === 0 ? '–' : notCarriedOut.toLocaleString('en')}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
