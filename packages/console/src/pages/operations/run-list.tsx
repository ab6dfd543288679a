import type { FailedRun } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import { useList } from '../../api/list.ts'
import { runList } from '../../api/runs.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'

const COLUMNS: readonly Column<FailedRun>[] = [
  {
    title: 'Run',
    width: 'minmax(0, 1fr)',
    card: 'title',
    cell: ({ run_id }) => <bdi className={classes.cut}>{run_id}</bdi>,
  },
  {
    title: 'What went wrong',
    width: 'minmax(0, 2fr)',
    card: 'line',
    cell: ({ reason }) => <bdi className={`dim ${classes.cut}`}>{reason ?? 'No reason was reported'}</bdi>,
  },
  timeColumn('Failed', '120px', ({ failed_at }) => failed_at),
]

export function Page() {
  const project_id = useProjectId()
  const list = useList(runList, { project_id })
  useReadAgain('runs')
  return (
    <>
      <PageHead
        title="Failed runs"
        above={
          <Link to="/p/$project/operations" params={{ project: project_id }}>
            Operations
          </Link>
        }
      >
        <p className="dim">A run is one execution of your software: all operations with the same run id.</p>
      </PageHead>
      <DataList
        label="Failed runs"
        list={list}
        columns={COLUMNS}
        hrefOf={({ run_id }) => `/p/${project_id}/runs/${encodeURIComponent(run_id)}`}
        empty={<p>No run was reported as failed. A run that goes well is found through its operations.</p>}
      />
    </>
  )
}
