import type { ShownBudget } from '@backstop/client'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { budgetList } from '../../api/operations.ts'
import { formatMoney } from '../../format/money.ts'
import { DialogButton } from '../../parts/form/index.ts'
import { type Column, ListPage, textColumn, useReadAgain } from '../../parts/list/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { BudgetBar, BudgetLeft } from './budget-bar.tsx'
import { NewBudget } from './budget-forms.tsx'
import classes from './operations.module.css'
import { INTERVALS } from './words.ts'

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  useReadAgain('budgets')
  const names = useConnectionNames(project_id)
  return (
    <ListPage
      title="Budgets"
      about="The money that operations of your software may take in each period. Periods are in UTC."
      actions={may('manage', project_id) && <DialogButton label="New budget">{() => <NewBudget />}</DialogButton>}
      list={useList(budgetList, { project_id })}
      columns={columnsWith(names)}
      opens="budgets"
      empty="No budget yet, so nothing limits what your software may refund. A budget refuses a request that exceeds its cap."
    />
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ShownBudget>[] {
  return [
    textColumn('Budget', 'minmax(0, 1.2fr)', ({ name }) => name, { card: 'title' }),
    {
      title: 'Counts',
      width: 'minmax(0, 1fr)',
      card: 'line',
      cell: ({ connection_id, interval }) => (
        <span className="dim">
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
    { title: 'Left', width: '176px', align: 'end', card: 'end', cell: budget => <BudgetLeft budget={budget} /> },
    textColumn('Cap', '128px', ({ cap, currency }) => formatMoney(cap, currency), { tone: 'dim', align: 'end' }),
  ]
}
