import type { ShownBudget, ShownOperation } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { budgetQuery } from '../../api/operations.ts'
import { formatMoney } from '../../format/money.ts'
import { ProjectLink, Read } from '../../parts/page/index.ts'
import { BudgetBar } from './budget-bar.tsx'
import classes from './operations.module.css'
import { INTERVALS } from './words.ts'

type Share = NonNullable<ShownOperation['budgets']>[number]

/** What an operation does to each budget that counts it. */
export function BudgetEffects({ operation }: { operation: ShownOperation }) {
  const { budgets = [] } = operation
  if (budgets.length === 0) return <p className="dim">No budget counts this operation.</p>
  return (
    <ul className="lines">
      {budgets.map(share => (
        <Effect key={share.budget_id} share={share} operation={operation} />
      ))}
    </ul>
  )
}

function Effect({ share, operation }: { share: Share; operation: ShownOperation }) {
  const query = useQuery(budgetQuery(share.budget_id))
  return (
    <li>
      <Read query={query} what="The budget could not be read" loading={<Skeleton height={66} />}>
        {budget => {
          const isCurrent = budget.current.starts_at.startsWith(share.period_start)
          return (
            <>
              <div className={classes.effectTop}>
                <ProjectLink page="budgets" id={budget.budget_id}>
                  <bdi>{budget.name}</bdi>
                </ProjectLink>
                <span className="faint">
                  {isCurrent ? INTERVALS[budget.interval] : `Period from ${share.period_start}`}
                </span>
              </div>
              {isCurrent && <BudgetBar budget={budget} ofThis={share.state === 'released' ? 0 : share.amount} />}
              <p>{describe(share, budget, operation, isCurrent)}</p>
            </>
          )
        }}
      </Read>
    </li>
  )
}

function describe(share: Share, budget: ShownBudget, { state }: ShownOperation, isCurrent: boolean): string {
  const { left, overspent } = budget.current
  const money = (amount: number) => formatMoney(amount, budget.currency)
  if (!isCurrent) return describeShare(share, money)
  if (state === 'approval_pending' && share.state === 'reserved') {
    const rest = (amount: number) => (amount < 0 ? `${money(-amount)} overspent` : `${money(amount)} left`)
    const balance = left - overspent
    return `If you decline: ${rest(balance + share.amount)}. If you approve: ${rest(balance)}.`
  }
  return `${describeShare(share, money)} Left now: ${money(left)}.`
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
