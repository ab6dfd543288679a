import type { ShownBudget } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { budgetQuery } from '../../api/budgets.ts'
import { api } from '../../api/client.ts'
import { connectionQuery } from '../../api/connections.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { BudgetBar } from './budget-bar.tsx'
import { BudgetLeft } from './budget-left.tsx'
import { ChangeBudget } from './change-budget.tsx'
import { useReadAgain } from './use-read-again.ts'
import { INTERVALS } from './words.ts'

export function Page() {
  const project = useProjectId()
  const { data: budget, error, refetch } = useQuery(budgetQuery(useResourceId()))
  useReadAgain('budgets')
  const above = (
    <Link to="/p/$project/budgets" params={{ project }}>
      Budgets
    </Link>
  )
  if (budget === undefined) {
    return (
      <UnreadPage title="Budget" above={above} error={error} retry={() => void refetch()}>
        <Skeleton height={240} />
      </UnreadPage>
    )
  }
  return (
    <>
      <PageHead title={budget.name} above={above} actions={<Changes budget={budget} />}>
        <BudgetLeft budget={budget} />
      </PageHead>
      <div className="body">
        <BudgetBar budget={budget} />
        <Numbers budget={budget} />
        <p>
          <Link
            to="/p/$project/operations"
            params={{ project }}
            search={(budget.connection_id === null ? {} : { connection_id: budget.connection_id }) as never}
          >
            See the operations
          </Link>
        </p>
      </div>
    </>
  )
}

function Changes({ budget }: { budget: ShownBudget }) {
  const { may } = useSession()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { project_id, budget_id, name } = budget
  if (!may('manage', project_id)) return null
  const remove = async () => {
    await api.budgets.delete(budget_id)
    await navigate({ to: '/p/$project/budgets', params: { project: project_id } })
    queryClient.removeQueries({ queryKey: ['budgets', 'one', budget_id] })
    await queryClient.invalidateQueries({ queryKey: ['budgets'] })
  }
  return (
    <>
      <ChangeBudget budget={budget} />
      <ConfirmButton
        question={`Delete the budget “${name}”?`}
        consequence={<p>Nothing limits these operations by this budget any more. Its numbers are lost.</p>}
        onConfirm={remove}
      >
        Delete
      </ConfirmButton>
    </>
  )
}

function Numbers({ budget }: { budget: ShownBudget }) {
  const { cap, currency, current, interval, connection_id, project_id, budget_id } = budget
  return (
    <Facts
      facts={[
        ['Cap', <Money key="cap" amount={cap} currency={currency} />],
        ['Spent', <Money key="used" amount={current.used} currency={currency} />],
        ['Reserved', <Money key="reserved" amount={current.reserved} currency={currency} />],
        ['Left', <Money key="left" amount={current.left} currency={currency} />],
        [
          'Overspent',
          current.overspent === 0 ? null : <Money key="overspent" amount={current.overspent} currency={currency} />,
        ],
        ['Period', `${INTERVALS[interval]}, in UTC`],
        ['This one began', <Time key="from" at={current.starts_at} />],
        ['It ends', <Time key="to" at={current.ends_at} />],
        [
          'Counts',
          connection_id === null ? (
            'Operations of all connections'
          ) : (
            <ConnectionName key="counts" projectId={project_id} id={connection_id} />
          ),
        ],
        ['Budget', <CopyId key="id" id={budget_id} length={24} />],
      ]}
    />
  )
}

function ConnectionName({ projectId, id }: { projectId: string; id: string }) {
  const { data } = useQuery(connectionQuery(projectId, id))
  return (
    <>
      Operations of{' '}
      <Link className="link" to="/p/$project/connections/$id" params={{ project: projectId, id }}>
        <bdi>{data?.name ?? id}</bdi>
      </Link>
    </>
  )
}
