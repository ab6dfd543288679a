import type { ShownBudget, ShownOperation } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { budgetQuery } from '../../api/budgets.ts'
import { formatMoney } from '../../format/money.ts'
import { Problem } from '../../parts/problem.tsx'
import sheet from '../../parts/sheet.module.css'
import { BudgetBar } from './budget-bar.tsx'
import classes from './operations.module.css'
import { INTERVALS } from './words.ts'

type Share = NonNullable<ShownOperation['budgets']>[number]

/** What an operation does to each budget that counts it. */
export function BudgetEffects({ operation }: { operation: ShownOperation }) {
  const { budgets = [] } = operation
  if (budgets.length === 0) return <p className="dim">No budget counts this operation.</p>
  return (
    <ul className={sheet.lines}>
      {budgets.map(share => (
        <Effect key={share.budget_id} share={share} operation={operation} />
      ))}
    </ul>
  )
}

function Effect({ share, operation }: { share: Share; operation: ShownOperation }) {
  const { data: budget, error, refetch } = useQuery(budgetQuery(share.budget_id))
  if (error !== null) {
    return (
      <li>
        <Problem error={error} retry={() => void refetch()} what="The budget could not be read" />
      </li>
    )
  }
  if (budget === undefined) {
    return (
      <li>
        <Skeleton height={66} />
      </li>
    )
  }
  const isCurrent = budget.current.starts_at.startsWith(share.period_start)
  const { interval, project_id, budget_id, name } = budget
  return (
    <li>
      <div className={classes.effectTop}>
        <Link className="link" to="/p/$project/budgets/$id" params={{ project: project_id, id: budget_id }}>
          <bdi>{name}</bdi>
        </Link>
        <span className="faint">{isCurrent ? INTERVALS[interval] : `Period from ${share.period_start}`}</span>
      </div>
      {isCurrent && <BudgetBar budget={budget} ofThis={share.state === 'released' ? 0 : share.amount} />}
      <p>{isCurrent ? describeNow(share, budget, operation) : describeEarlier(share, budget)}</p>
    </li>
  )
}

function describeNow(share: Share, { current, currency }: ShownBudget, { state }: ShownOperation): string {
  const money = (amount: number) => formatMoney(amount, currency)
  const { left, overspent } = current
  if (state === 'approval_pending' && share.state === 'reserved') {
    const rest = (amount: number) => (amount < 0 ? `${money(-amount)} overspent` : `${money(amount)} left`)
    const balance = left - overspent
    return `If you decline: ${rest(balance + share.amount)}. If you approve: ${rest(balance)}.`
  }
  return `${describeShare(share, money)} Left now: ${money(left)}.`
}

function describeEarlier(share: Share, { currency }: ShownBudget): string {
  return describeShare(share, amount => formatMoney(amount, currency))
}

function describeShare({ state, amount }: Share, money: (amount: number) => string): string {
  switch (state) {
    case 'reserved':
      return `It reserves ${money(amount)}.`
    case 'spent':
      return `It spent ${money(amount)}.`
    case 'released':
      return `It had reserved ${money(amount)}, which is free again.`
    default:
      return state satisfies never
  }
}
