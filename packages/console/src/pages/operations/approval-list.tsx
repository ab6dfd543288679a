import type { ShownBudget, ShownOperation } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { useList } from '../../api/list.ts'
import { budgetList, operationList } from '../../api/operations.ts'
import { projectQuery } from '../../api/system.ts'
import { formatMoney } from '../../format/money.ts'
import { type Column, ListPage, textColumn, timeColumn, useReadAgain } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { CustomerOf } from './same-payment.tsx'
import { nameOperation } from './words.ts'

/** What waits for a person, with what each answer does to the budgets. */
export function Page() {
  const project_id = useProjectId()
  const list = useList(operationList, { project_id, state: 'approval_pending' })
  const budgets = useList(budgetList, { project_id }).items
  useReadAgain('operations')
  const { may } = useSession()
  const isNeeded = useQuery(projectQuery(project_id)).data?.requires_approval ?? true
  const count = list.items.length
  const title = `${count}${list.hasMore ? '+' : ''} ${count === 1 ? 'waits' : 'wait'} for approval`
  return (
    <ListPage
      title={count === 0 ? 'Approvals' : title}
      label="Approvals"
      about={count > 0 ? 'Open one to see what it does, and to approve or decline it.' : undefined}
      list={list}
      columns={columnsWith(new Map(budgets.map(budget => [budget.budget_id, budget])))}
      opens="operations"
      empty={`Nothing waits for approval${isNeeded ? '' : ', because this project does not require approval of operations'}.`}
      next={
        !isNeeded &&
        may('admin', project_id) && <ProjectLink page="settings">Change the approval rule in the settings</ProjectLink>
      }
    />
  )
}

type Budgets = ReadonlyMap<string, ShownBudget>

function columnsWith(budgets: Budgets): readonly Column<ShownOperation>[] {
  return [
    textColumn('What', 'minmax(170px, 0.8fr)', nameOperation, { card: 'title' }),
    {
      title: 'Customer',
      width: 'minmax(0, 0.9fr)',
      card: 'line',
      cell: operation => <CustomerOf operation={operation} />,
    },
    textColumn('Reason given', 'minmax(0, 1.2fr)', ({ reason }) => reason, { card: 'line', tone: 'dim' }),
    {
      title: 'Budget',
      width: 'minmax(0, 1.4fr)',
      cell: operation => <BudgetChange operation={operation} budgets={budgets} />,
    },
    timeColumn('Asked', '104px', ({ approval }) => approval?.requested_at, { isOnCard: false }),
    timeColumn('Expires', '104px', ({ approval }) => approval?.deadline_at, { isNamedOnCard: true }),
  ]
}

/** The budget with the least money left: what is left before and after the operation. */
function BudgetChange({ operation, budgets }: { operation: ShownOperation; budgets: Budgets }) {
  const shares = (operation.budgets ?? []).flatMap(({ budget_id, amount, period_start }) => {
    const budget = budgets.get(budget_id)
    return budget?.current.starts_at.startsWith(period_start) === true ? [{ budget, amount }] : []
  })
  const [tightest] = shares.sort((one, other) => one.budget.current.left - other.budget.current.left)
  if (tightest === undefined) return <span className="faint">none</span>
  const { name, currency, current } = tightest.budget
  const rest = (amount: number) =>
    amount < 0 ? `${formatMoney(-amount, currency)} overspent` : formatMoney(amount, currency)
  const balance = current.left - current.overspent
  return (
    <span className="dim">
      <bdi>{name}</bdi>: {rest(balance + tightest.amount)} → {rest(balance)}
    </span>
  )
}
