import type { ShownBudget } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, queryClient, refresh } from '../../api/client.ts'
import { budgetQuery } from '../../api/operations.ts'
import { ConfirmButton, DialogButton } from '../../parts/form/index.ts'
import { useReadAgain } from '../../parts/list/index.ts'
import { PageHead, ProjectLink, ThingPage, useResourceId } from '../../parts/page/index.ts'
import { ConnectionName, Facts, idFact, moneyFact, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { BudgetBar, BudgetLeft } from './budget-bar.tsx'
import { ChangeBudget } from './budget-forms.tsx'
import { INTERVALS } from './words.ts'

const ABOVE = ['budgets', 'Budgets'] as const

export function Page() {
  const query = useQuery(budgetQuery(useResourceId()))
  useReadAgain('budgets')
  return (
    <ThingPage kind="Budget" above={ABOVE} query={query} loading={<Skeleton height={240} />}>
      {budget => (
        <>
          <PageHead title={budget.name} above={ABOVE} actions={<Changes budget={budget} />}>
            <BudgetLeft budget={budget} />
          </PageHead>
          <div className="body">
            <BudgetBar budget={budget} />
            <Numbers budget={budget} />
            <p>
              <ProjectLink
                page="operations"
                search={budget.connection_id === null ? {} : { connection_id: budget.connection_id }}
              >
                See the operations
              </ProjectLink>
            </p>
          </div>
        </>
      )}
    </ThingPage>
  )
}

function Changes({ budget }: { budget: ShownBudget }) {
  const { may } = useSession()
  const navigate = useNavigate()
  const { project_id, budget_id, name } = budget
  if (!may('manage', project_id)) return null
  const remove = async () => {
    await api.budgets.delete(budget_id)
    await navigate({ to: '/p/$project/budgets', params: { project: project_id } })
    queryClient.removeQueries({ queryKey: budgetQuery(budget_id).queryKey })
    await refresh('budgets')
  }
  return (
    <>
      <DialogButton label="Change" title="Change the budget" variant="default">
        {close => <ChangeBudget budget={budget} onDone={close} />}
      </DialogButton>
      <ConfirmButton
        question={`Delete the budget “${name}”?`}
        consequence="Nothing limits these operations by this budget any more. Its numbers are lost."
        onConfirm={remove}
      >
        Delete
      </ConfirmButton>
    </>
  )
}

function Numbers({ budget: { cap, currency, current, interval, connection_id, budget_id } }: { budget: ShownBudget }) {
  return (
    <Facts
      facts={[
        ['Cap', moneyFact(cap, currency)],
        ['Spent', moneyFact(current.used, currency)],
        ['Reserved', moneyFact(current.reserved, currency)],
        ['Left', moneyFact(current.left, currency)],
        ['Overspent', current.overspent === 0 ? null : moneyFact(current.overspent, currency)],
        ['Period', `${INTERVALS[interval]}, in UTC`],
        ['This one began', timeFact(current.starts_at)],
        ['It ends', timeFact(current.ends_at)],
        [
          'Counts',
          connection_id === null ? (
            'Operations of all connections'
          ) : (
            <span key="counts">
              Operations of <ConnectionName id={connection_id} />
            </span>
          ),
        ],
        ['Budget', idFact(budget_id, 24)],
      ]}
    />
  )
}
