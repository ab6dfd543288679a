import type { ShownBudget } from '@backstop/client'
import { budgetList } from '../../api/budgets.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { formatMoney } from '../../format/money.ts'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { BudgetBar } from './budget-bar.tsx'
import { BudgetLeft } from './budget-left.tsx'
import { NewBudget } from './new-budget.tsx'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { INTERVALS } from './words.ts'

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  const list = useList(budgetList, { project_id })
  useReadAgain('budgets')
  const names = useConnectionNames(project_id)
  const canChange = may('manage', project_id)
  return (
    <>
      <PageHead title="Budgets" actions={canChange ? <NewBudget projectId={project_id} names={names} /> : undefined}>
        <p className="dim">The money that operations of your software may take in each period. Periods are in UTC.</p>
      </PageHead>
      <DataList
        label="Budgets"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ budget_id }) => `/p/${project_id}/budgets/${budget_id}`}
        empty={
          <p>
            No budget yet, so nothing limits what your software may refund. A budget refuses a request that exceeds its
            cap.
          </p>
        }
      />
    </>
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ShownBudget>[] {
  return [
    {
      title: 'Budget',
      width: 'minmax(0, 1.2fr)',
      card: 'title',
      cell: ({ name }) => <bdi className={classes.cut}>{name}</bdi>,
    },
    {
      title: 'Counts',
      width: 'minmax(0, 1fr)',
      card: 'line',
      cell: ({ connection_id, interval }) => (
        <span className={`dim ${classes.cut}`}>
          {INTERVALS[interval]}, <bdi>{connection_id === null ? 'all connections' : names.get(connection_id)}</bdi>
        </span>
      ),
    },
    {
      title: 'Spent and reserved',
      width: 'minmax(80px, 1fr)',
      cell: budget => (
        <div className={classes.barCell}>
          <BudgetBar budget={budget} />
        </div>
      ),
    },
    {
      title: 'Left',
      width: '176px',
      align: 'end',
      card: 'end',
      cell: budget => <BudgetLeft budget={budget} />,
    },
    {
      title: 'Cap',
      width: '128px',
      align: 'end',
      cell: ({ cap, currency }) => <span className="dim">{formatMoney(cap, currency)}</span>,
    },
  ]
}
