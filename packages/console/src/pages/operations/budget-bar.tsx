import type { ShownBudget } from '@backstop/client'
import { formatMoney } from '../../format/money.ts'
import classes from './operations.module.css'

/** How much of a budget is used and reserved, as a bar; one operation's part of it in the accent colour. */
export function BudgetBar({ budget, ofThis = 0 }: { budget: ShownBudget; ofThis?: number }) {
  const { cap, currency, current } = budget
  const { used, reserved } = current
  const whole = Math.max(cap, used + reserved, 1)
  // What one operation takes is a part of either sum; the rest is drawn before it.
  const parts: readonly (readonly [string | undefined, number])[] =
    ofThis === 0
      ? [
          [classes.used, used],
          [classes.reserved, reserved],
        ]
      : [
          [classes.used, Math.max(0, used + reserved - ofThis)],
          [classes.this, ofThis],
        ]
  const money = (amount: number) => formatMoney(amount, currency)
  const text = `${money(used)} spent and ${money(reserved)} reserved of ${money(cap)}`
  return (
    <div className={classes.bar} role="img" aria-label={text} title={text}>
      {parts.map(([part, amount]) => (
        <span key={part} className={part} style={{ width: `${(100 * amount) / whole}%` }} />
      ))}
    </div>
  )
}

/** What is left of a budget in its current period, or by how much it is overspent. */
export function BudgetLeft({ budget: { current, currency } }: { budget: ShownBudget }) {
  if (current.overspent > 0) {
    return <span className={classes.over}>{formatMoney(current.overspent, currency)} overspent</span>
  }
  return <span>{formatMoney(current.left, currency)} left</span>
}
