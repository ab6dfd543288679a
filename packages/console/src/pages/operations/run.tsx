import type { RunWithOperations, ShownOperation } from '@backstop/client'
import { Skeleton, TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { runQuery } from '../../api/runs.ts'
import { formatMoney } from '../../format/money.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Problem } from '../../parts/problem.tsx'
import sheet from '../../parts/sheet.module.css'
import { Time } from '../../parts/time.tsx'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { nameOperation } from './words.ts'

const SHOWN = 100
const ENDED: ReadonlySet<ShownOperation['state']> = new Set(['completed', 'failed', 'rejected', 'declined', 'expired'])

export function Page() {
  const project = useProjectId()
  const id = useResourceId()
  const { data: run, error, refetch } = useQuery(runQuery(id, project))
  useReadAgain('runs')
  const { may } = useSession()
  const above = (
    <Link to="/p/$project/runs" params={{ project }}>
      Failed runs
    </Link>
  )
  const canFail = run !== undefined && run.failure === null && may('operations:write', project)
  return (
    <>
      <PageHead title={`Run ${id}`} above={above} actions={canFail ? <ReportFailed run={run} /> : undefined} />
      {error !== null ? (
        <Problem error={error} retry={() => void refetch()} what="The run could not be read" />
      ) : run === undefined ? (
        <div className="body" aria-busy>
          <Skeleton height={280} />
        </div>
      ) : (
        <Run run={run} />
      )}
    </>
  )
}

function Run({ run }: { run: RunWithOperations }) {
  const { failure, operations, project_id, run_id } = run
  return (
    <div className="body">
      <Facts
        facts={[
          ['State', failure === null ? 'Not reported as failed' : 'Failed'],
          ['Failed', failure === null ? null : <Time key="failed" at={failure.failed_at} />],
          ['What went wrong', failure?.reason],
          ['Not ended', String(operations.filter(({ state }) => !ENDED.has(state)).length)],
          ['Completed', sumOf(operations)],
        ]}
      />
      <div className={sheet.columns}>
        <section className={sheet.part}>
          <h2>Operations</h2>
          {operations.length === 0 && <p className="dim">No operation names this run.</p>}
          <ul className={sheet.lines}>
            {operations.map(operation => (
              <li key={operation.operation_id}>
                <div className={classes.listed}>
                  <Link
                    className="link"
                    to="/p/$project/operations/$id"
                    params={{ project: project_id, id: operation.operation_id }}
                  >
                    {nameOperation(operation)}
                  </Link>
                  <StateBadge state={operation.state} />
                  <span className="faint">
                    <Time at={operation.created_at} />
                  </span>
                </div>
              </li>
            ))}
          </ul>
          {operations.length >= SHOWN && (
            <p>
              <Link to="/p/$project/operations" params={{ project: project_id }} search={{ run_id } as never}>
                These are the newest {SHOWN}. See all operations of the run
              </Link>
            </p>
          )}
        </section>
      </div>
    </div>
  )
}

function sumOf(operations: readonly ShownOperation[]): string {
  const sums = new Map<string, number>()
  for (const { state, amount, currency } of operations) {
    if (state === 'completed' && amount !== null && currency !== null) {
      sums.set(currency, (sums.get(currency) ?? 0) + amount)
    }
  }
  const completed = operations.filter(({ state }) => state === 'completed').length
  const money = [...sums].map(([currency, amount]) => formatMoney(amount, currency)).join(', ')
  return money === '' ? String(completed) : `${completed}, ${money}`
}

/** Reports that the run stopped before its end. The channels of the project are alerted once. */
function ReportFailed({ run }: { run: RunWithOperations }) {
  const queryClient = useQueryClient()
  const [reason, setReason] = useState('')
  const { project_id, run_id } = run
  return (
    <ConfirmButton
      question={`Report the run ${run_id} as failed?`}
      consequence={
        <>
          <p>
            Use this when the run stopped before its end. Backstop alerts the channels once, with the operations that
            have not ended. It does not stop your software, and it cannot be taken back.
          </p>
          <TextInput
            mt="md"
            label="What went wrong (optional)"
            maxLength={500}
            value={reason}
            onChange={event => setReason(event.currentTarget.value)}
          />
        </>
      }
      onConfirm={async () => {
        await api.runs.fail(run_id, { project_id, ...(reason.trim() === '' ? {} : { reason: reason.trim() }) })
        await queryClient.invalidateQueries({ queryKey: ['runs'] })
      }}
    >
      Report as failed
    </ConfirmButton>
  )
}
