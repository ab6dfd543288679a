import { Button } from '@mantine/core'
import { useState } from 'react'
import { useConnectionNames } from '../../api/connections.ts'
import { type ExpectedChange, expectedChangeList } from '../../api/expected-changes.ts'
import { useList } from '../../api/list.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { describeCovered, describeUse, ExpectedChangeBadge } from './expected-change-words.tsx'
import { NewExpectedChange } from './new-expected-change.tsx'

export function Page() {
  const project_id = useProjectId()
  const mayChange = useSession().may('manage', project_id)
  const list = useList(expectedChangeList, { project_id })
  const names = useConnectionNames(project_id)
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <PageHead
        title="Expected changes"
        actions={mayChange && <Button onClick={() => setIsOpen(true)}>New expected change</Button>}
      />
      <DataList
        label="Expected changes"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ expected_change_id }) => `/p/${project_id}/expected-changes/${expected_change_id}`}
        empty={
          <>
            <p>No expected change yet.</p>
            <p>
              Create one before your team refunds or cancels by hand, and these changes do not alert. It covers only as
              many changes and as much money as it says, and it ends by itself.
            </p>
          </>
        }
      />
      <NewExpectedChange projectId={project_id} names={names} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ExpectedChange>[] {
  return [
    { title: 'State', width: '112px', card: 'line', cell: change => <ExpectedChangeBadge change={change} /> },
    { title: 'Why', width: 'minmax(0, 1.2fr)', card: 'title', cell: ({ note }) => <span dir="auto">{note}</span> },
    {
      title: 'Covers',
      width: 'minmax(0, 1fr)',
      cell: change => (
        <span className="dim" dir="auto">
          {describeCovered(change, names)}
        </span>
      ),
    },
    { title: 'Used', width: 'minmax(0, 0.8fr)', card: 'line', cell: change => describeUse(change) },
    timeColumn('Ends', '120px', ({ expires_at, deleted_at }) => deleted_at ?? expires_at, { isNamedOnCard: true }),
  ]
}
