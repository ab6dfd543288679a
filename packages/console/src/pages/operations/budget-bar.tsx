import type { ShownBudget } from '@backstop/client'
import { formatMoney } from '../../format/money.ts'
import classes from './operations.module.css'

/** How much of a budget is used and reserved, as a bar; one operation's part of it in the accent colour. */
export function BudgetBar({ budget, ofThis = 0 }: { budget: ShownBudget; ofThis?: number }) {
  const { cap, currency, current } = budget
  const { used, reserved } = current
  const whole = Math.max(cap, used + reserved, 1)
  const width = (amount: number) => ({ width: `${(100 * amount) / whole}%` })
  // What one operation takes is a part of either sum; the rest is drawn before it.
  const others = Math.max(0, used + reserved - ofThis)
  const money = (amount: number) => formatMoney(amount, currency)
  const text = `${money(used)} spent and ${money(reserved)} reserved of ${money(cap)}`
  return (
    <div className={classes.bar} role="img" aria-label={text} title={text}>
      {ofThis === 0 ? (
        <>
          <span className={classes.used} style={width(used)} />
          <span className={classes.reserved} style={width(reserved)} />
        </>
      ) : (
        <>
          <span className={classes.used} style={width(others)} />
          <span className={classes.this} style={width(ofThis)} />
        </>
      )}
    </div>
  )
}
