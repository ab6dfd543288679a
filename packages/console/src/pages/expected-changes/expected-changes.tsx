import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { type ExpectedChange, expectedChangeList } from '../../api/operations.ts'
import { DialogButton } from '../../parts/form/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { describeCovered, describeUse, ExpectedChangeBadge } from './expected-change-words.tsx'
import { NewExpectedChange } from './new-expected-change.tsx'

export function Page() {
  const project_id = useProjectId()
  const { may } = useSession()
  return (
    <ListPage
      title="Expected changes"
      actions={
        may('manage', project_id) && (
          <DialogButton label="New expected change" size="md">
            {close => <NewExpectedChange close={close} />}
          </DialogButton>
        )
      }
      list={useList(expectedChangeList, { project_id })}
      columns={columnsWith(useConnectionNames(project_id))}
      opens="expected-changes"
      empty="No expected change yet."
      next="Create one before your team refunds or cancels by hand, and these changes do not alert. It covers only as many changes and as much money as it says, and it ends by itself."
    />
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ExpectedChange>[] {
  return [
    { title: 'State', width: '112px', card: 'line', cell: change => <ExpectedChangeBadge change={change} /> },
    textColumn('Why', 'minmax(0, 1.2fr)', ({ note }) => note, { card: 'title' }),
    textColumn('Covers', 'minmax(0, 1fr)', change => describeCovered(change, names), { tone: 'dim' }),
    textColumn('Used', 'minmax(0, 0.8fr)', describeUse, { card: 'line' }),
    timeColumn('Ends', '120px', ({ expires_at, deleted_at }) => deleted_at ?? expires_at, { isNamedOnCard: true }),
  ]
}
