import { Button } from '@mantine/core'
import * as z from 'zod/mini'
import { useList } from '../../api/list.ts'
import { type AuditRow, auditList } from '../../api/system.ts'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { FilterBar, SearchChoiceFilter, TextFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { AdminsOnly } from './admins-only.tsx'
import { Actor, Target } from './audit-actor.tsx'
import { AuditPanel } from './audit-panel.tsx'
import { describeAction } from './audit-words.ts'
import { DayFilter, endOfDay, startOfDay } from './day-filter.tsx'
import classes from './system.module.css'
import { useAdministration } from './use-admin.ts'
import { VerifyChain } from './verify-chain.tsx'

const FILTERS = {
  project_id: z.string(),
  action: z.string(),
  target: z.string(),
  from: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
  to: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
  row: z.string(),
}

export function Page() {
  return (
    <AdminsOnly title="Audit">
      <Audit />
    </AdminsOnly>
  )
}

function Audit() {
  const [{ row: id, from, to, ...equal }, setFilters, bind] = useFilters(FILTERS)
  const { projects, nameProject, isAdminOfAll } = useAdministration()
  const query = {
    ...equal,
    ...(from === undefined ? {} : { from: startOfDay(from) }),
    ...(to === undefined ? {} : { to: endOfDay(to) }),
  }
  const list = useList(auditList, query)
  const row = list.items.find(({ audit_id }) => audit_id === id)
  const filters = { ...equal, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return (
    <>
      <PageHead
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
      />
      {isAdminOfAll && <VerifyChain />}
      <FilterBar>
        <SearchChoiceFilter
          label="Project"
          options={projects.map(({ project_id, name }) => ({ value: project_id, label: name }))}
          {...bind('project_id')}
        />
        <TextFilter label="Action (person.change)" {...bind('action')} />
        <TextFilter label="Id of what was changed" {...bind('target')} />
        <DayFilter label="From" {...bind('from')} />
        <DayFilter label="To" {...bind('to')} />
      </FilterBar>
      <DataList
        label="Audit"
        list={list}
        columns={columnsWith(nameProject)}
        hrefOf={({ audit_id }) => `/system/audit?${new URLSearchParams({ ...filters, row: audit_id })}`}
        empty={<p>{Object.keys(filters).length > 0 ? 'Nothing fits these filters.' : 'Nothing was changed yet.'}</p>}
      />
      {row !== undefined && <AuditPanel row={row} close={() => setFilters({ row: undefined })} />}
    </>
  )
}

function columnsWith(nameProject: (id: string | null) => string): readonly Column<AuditRow>[] {
  return [
    {
      title: 'What',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: row => <span className={classes.text}>{describeAction(row)}</span>,
    },
    { title: 'Who', width: 'minmax(0, 0.8fr)', card: 'line', cell: row => <Actor row={row} /> },
    {
      title: 'Changed',
      width: '176px',
      cell: row => <Target row={row} />,
    },
    {
      title: 'Project',
      width: '136px',
      cell: ({ project_id }) => (
        <span className={`dim ${classes.text}`} dir="auto">
          {project_id === null ? '' : nameProject(project_id)}
        </span>
      ),
    },
    timeColumn('When', '112px', ({ at }) => at),
  ]
}
