import { Button } from '@mantine/core'
import { useList } from '../../api/list.ts'
import { type AuditRow, auditList } from '../../api/system.ts'
import { day, defineFilters, resourceChoice, startOfDay, text, useListFilters } from '../../parts/filters/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { AdminsOnly } from '../../parts/page/index.ts'
import { projectOptions, useAdministration } from '../../session/administration.ts'
import { Actor, AuditPanel, Target } from './audit-panel.tsx'
import { describeAction } from './audit-words.ts'
import { VerifyChain } from './verify-chain.tsx'

const FILTERS = defineFilters(
  resourceChoice('project_id', 'Project', () => projectOptions(useAdministration().projects), true),
  text('action', 'Action (person.change)'),
  text('target', 'Id of what was changed'),
  day('from', 'From'),
  day('to', 'To'),
)

export function Page() {
  return (
    <AdminsOnly title="Audit">
      <Audit />
    </AdminsOnly>
  )
}

function Audit() {
  const filters = useListFilters(FILTERS)
  const { from, to, ...equal } = filters.values
  const { nameProject, isAdminOfAll } = useAdministration()
  const [begin, end] = [startOfDay(from ?? '', 0), startOfDay(to ?? '', 1)]
  const query = { ...equal, ...(begin && { from: begin }), ...(end && { to: end }) }
  const list = useList(auditList, query)
  const panelOf = (id: string, close: () => void) => {
    const row = list.items.find(({ audit_id }) => audit_id === id)
    return row && <AuditPanel row={row} close={close} />
  }
  return (
    <ListPage
      title="Audit"
      actions={
        <Button
          variant="default"
          component="a"
          href={`/v1/audit?${new URLSearchParams({ ...query, format: 'csv' })}`}
          download="audit.csv"
        >
          Export as CSV
        </Button>
      }
      note={isAdminOfAll && <VerifyChain />}
      filters={filters}
      list={list}
      columns={columnsWith(nameProject)}
      opens={{ param: 'row', show: panelOf }}
      nothingFits="Nothing fits these filters."
      empty="Nothing was changed yet."
    />
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<AuditRow>[] {
  return [
    textColumn('What', 'minmax(0, 1fr)', describeAction, { card: 'title' }),
    { title: 'Who', width: 'minmax(0, 0.8fr)', card: 'line', cell: row => <Actor row={row} /> },
    { title: 'Changed', width: '176px', cell: row => <Target row={row} /> },
    textColumn('Project', '136px', ({ project_id }) => project_id && nameProject(project_id), { tone: 'dim' }),
    timeColumn('When', '112px', ({ at }) => at),
  ]
}
