import type { RunWithOperations, ShownOperation } from '@backstop/client'
import { Skeleton, TextInput } from '@mantine/core'
import { useInputState } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { api, refresh } from '../../api/client.ts'
import { runQuery } from '../../api/operations.ts'
import { formatMoney } from '../../format/money.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { useReadAgain } from '../../parts/list/index.ts'
import { Columns, PageHead, Part, ProjectLink, Read, useProjectId, useResourceId } from '../../parts/page/index.ts'
import { Facts, StateBadge, Time, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './operations.module.css'
import { nameOperation } from './words.ts'

const SHOWN = 100
const ENDED: ReadonlySet<ShownOperation['state']> = new Set(['completed', 'failed', 'rejected', 'declined', 'expired'])

export function Page() {
  const project = useProjectId()
  const id = useResourceId()
  const query = useQuery(runQuery(id, project))
  useReadAgain('runs')
  const { may } = useSession()
  const canFail = query.data?.failure === null && may('operations:write', project)
  const loading = (
    <div className="body" aria-busy>
      <Skeleton height={280} />
    </div>
  )
  return (
    <>
      <PageHead
        title={`Run ${id}`}
        above={['runs', 'Failed runs']}
        actions={canFail ? <ReportFailed run_id={id} project_id={project} /> : undefined}
      />
      <Read query={query} what="The run could not be read" loading={loading}>
        {run => <Run {...run} />}
      </Read>
    </>
  )
}

function Run({ failure, operations, run_id }: RunWithOperations) {
  return (
    <div className="body">
      <Facts
        facts={[
          ['State', failure === null ? 'Not reported as failed' : 'Failed'],
          ['Failed', timeFact(failure?.failed_at)],
          ['What went wrong', failure?.reason],
          ['Not ended', String(operations.filter(({ state }) => !ENDED.has(state)).length)],
          ['Completed', sumOf(operations)],
        ]}
      />
      <Columns>
        <Part title="Operations">
          {operations.length === 0 && <p className="dim">No operation names this run.</p>}
          <ul className="lines">
            {operations.map(operation => (
              <li key={operation.operation_id} className={classes.listed}>
                <ProjectLink page="operations" id={operation.operation_id}>
                  {nameOperation(operation)}
                </ProjectLink>
                <StateBadge state={operation.state} />
                <span className="faint">
                  <Time at={operation.created_at} />
                </span>
              </li>
            ))}
          </ul>
          {operations.length >= SHOWN && (
            <p>
              <ProjectLink page="operations" search={{ run_id }}>
                These are the newest {SHOWN}. See all operations of the run
              </ProjectLink>
            </p>
          )}
        </Part>
      </Columns>
    </div>
  )
}

function sumOf(operations: readonly ShownOperation[]): string {
  const completed = operations.filter(({ state }) => state === 'completed')
  const sums = new Map<string, number>()
  for (const { amount, currency } of completed) {
    if (amount !== null && currency !== null) sums.set(currency, (sums.get(currency) ?? 0) + amount)
  }
  return [String(completed.length), ...[...sums].map(([currency, amount]) => formatMoney(amount, currency))].join(', ')
}

/** Reports that the run stopped before its end. The channels of the project are alerted once. */
function ReportFailed({ run_id, project_id }: { run_id: string; project_id: string }) {
  const [reason, setReason] = useInputState('')
  const report = async () => {
    await api.runs.fail(run_id, { project_id, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) })
    await refresh('runs')
  }
  return (
    <ConfirmButton
      question={`Report the run ${run_id} as failed?`}
      consequence={
        <>
          <p>
            Use this when the run stopped before its end. Backstop alerts the channels once, with the operations that
            have not ended. It does not stop your software, and it cannot be taken back.
          </p>
          <TextInput mt="md" label="What went wrong (optional)" maxLength={500} value={reason} onChange={setReason} />
        </>
      }
      onConfirm={report}
    >
      Report as failed
    </ConfirmButton>
  )
}
