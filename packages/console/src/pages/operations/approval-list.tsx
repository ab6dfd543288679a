import type { ShownBudget, ShownOperation } from '@backstop/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { budgetList } from '../../api/budgets.ts'
import { useList } from '../../api/list.ts'
import { operationList } from '../../api/operations.ts'
import { projectQuery } from '../../api/projects.ts'
import { formatMoney } from '../../format/money.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { nameOperation } from './words.ts'

/** What waits for a person, with what each answer does to the budgets. */
export function Page() {
  const project_id = useProjectId()
  const list = useList(operationList, { project_id, state: 'approval_pending' })
  const budgets = useList(budgetList, { project_id }).items
  useReadAgain('operations')
  const count = list.items.length
  const title =
    list.isLoading || count === 0
      ? 'Approvals'
      : `${count}${list.hasMore ? '+' : ''} ${count === 1 ? 'waits' : 'wait'} for approval`
  return (
    <>
      <PageHead title={title}>
        {count > 0 && <p className="dim">Open one to see what it does, and to approve or decline it.</p>}
      </PageHead>
      <DataList
        label="Approvals"
        list={list}
        columns={columnsWith(new Map(budgets.map(budget => [budget.budget_id, budget])))}
        hrefOf={({ operation_id }) => `/p/${project_id}/operations/${operation_id}`}
        empty={<Empty projectId={project_id} />}
      />
    </>
  )
}

function columnsWith(budgets: ReadonlyMap<string, ShownBudget>): readonly Column<ShownOperation>[] {
  return [
    {
      title: 'What',
      width: 'minmax(170px, 0.8fr)',
      card: 'title',
      cell: operation => <span>{nameOperation(operation)}</span>,
    },
    {
      title: 'Reason given',
      width: 'minmax(0, 1.2fr)',
      card: 'line',
      cell: ({ reason, subject }) =>
        reason === null ? (
          <span className={`mono dim ${classes.cut}`}>{subject}</span>
        ) : (
          <bdi className={`dim ${classes.cut}`}>{reason}</bdi>
        ),
    },
    {
      title: 'Budget',
      width: 'minmax(0, 1.4fr)',
      cell: operation => <BudgetChange operation={operation} budgets={budgets} />,
    },
    timeColumn('Asked', '96px', ({ approval }) => approval?.requested_at, { isOnCard: false }),
    timeColumn('Expires', '104px', ({ approval }) => approval?.deadline_at, { isNamedOnCard: true }),
  ]
}

/** The budget with the least money left: what is left before and after the operation. */
function BudgetChange({
  operation,
  budgets,
}: {
  operation: ShownOperation
  budgets: ReadonlyMap<string, ShownBudget>
}) {
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
    <span className={`dim ${classes.cut}`}>
      <bdi>{name}</bdi>: {rest(balance + tightest.amount)} → {rest(balance)}
    </span>
  )
}

function Empty({ projectId }: { projectId: string }) {
  const { may } = useSession()
  const { data: project } = useQuery(projectQuery(projectId))
  if (project === undefined || project.requires_approval) return <p>Nothing waits for approval.</p>
  return (
    <>
      <p>Nothing waits for approval, because this project does not require approval of operations.</p>
      {may('admin', projectId) && (
        <p>
          <Link to="/p/$project/settings" params={{ project: projectId }}>
            Change the approval rule in the settings
          </Link>
        </p>
      )}
    </>
  )
}
