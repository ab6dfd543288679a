import type { ShownBudget } from '@backstop/client'
import { formatMoney } from '../../format/money.ts'
import classes from './operations.module.css'

/** What is left of a budget in its current period, or by how much it is overspent. */
export function BudgetLeft({ budget: { current, currency } }: { budget: ShownBudget }) {
  if (current.overspent > 0) {
    return <span className={classes.over}>{formatMoney(current.overspent, currency)} overspent</span>
  }
  return <span>{formatMoney(current.left, currency)} left</span>
}
