import type { FailedRun } from '@backstop/client'
import { useList } from '../../api/list.ts'
import { runList } from '../../api/operations.ts'
import { type Column, ListPage, textColumn, timeColumn, useReadAgain } from '../../parts/list/index.ts'
import { useProjectId } from '../../parts/page/index.ts'

const COLUMNS: readonly Column<FailedRun>[] = [
  textColumn('Run', 'minmax(0, 1fr)', ({ run_id }) => run_id, { card: 'title' }),
  textColumn('What went wrong', 'minmax(0, 2fr)', ({ reason }) => reason ?? 'No reason was reported', {
    tone: 'dim',
    card: 'line',
  }),
  timeColumn('Failed', '120px', ({ failed_at }) => failed_at),
]

export function Page() {
  const project_id = useProjectId()
  useReadAgain('runs')
  return (
    <ListPage
      title="Failed runs"
      above={['operations', 'Operations']}
      about="A run is one execution of your software: all operations with the same run id."
      list={useList(runList, { project_id })}
      columns={COLUMNS}
      opens="runs"
      empty="No run was reported as failed. A run that goes well is found through its operations."
    />
  )
}
