import type { Incident } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useAllConnections } from '../../api/connections.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { INCIDENT_CODES } from './codes.ts'
import { foundIncidents } from './incident-search.ts'

const STATES = [
  { value: 'open', label: 'Open' },
  { value: 'acknowledged', label: 'Acknowledged' },
  { value: 'resolved', label: 'Resolved' },
] as const
const FILTERS = {
  state: z.enum(STATES.map(({ value }) => value)),
  code: z.enum(INCIDENT_CODES.map(({ value }) => value)),
  connection_id: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
}
const SEARCH = { q: z.string() }

export function Page() {
  const project_id = useProjectId()
  const [filters, setFilters] = useFilters(FILTERS)
  const [{ q }, setSearch] = useFilters(SEARCH)
  const connections = useAllConnections(project_id)
  const names = new Map(connections.map(({ connection_id, name }) => [connection_id, name]))
  const isSearch = q !== undefined && q.trim() !== ''
  const { from, to } = filters
  return (
    <>
      <PageHead title="Incidents" actions={!isSearch && <BulkButtons project_id={project_id} filters={filters} />} />
      <FilterBar>
        <TextFilter label="Id, customer or amount" value={q} onChange={text => setSearch({ q: text })} />
        {!isSearch && (
          <>
            <ChoiceFilter
              label="State"
              value={filters.state}
              options={STATES}
              onChange={state => setFilters({ state })}
            />
            <ChoiceFilter
              label="Kind"
              value={filters.code}
              options={INCIDENT_CODES}
              onChange={code => setFilters({ code })}
            />
            <ChoiceFilter
              label="Connection"
              value={filters.connection_id}
              options={connections.map(({ connection_id, name }) => ({ value: connection_id, label: name }))}
              onChange={connection_id => setFilters({ connection_id })}
            />
            {(from !== undefined || to !== undefined) && (
              <Button variant="default" onClick={() => setFilters({ from: undefined, to: undefined })}>
                {periodText(from, to)} ×
              </Button>
            )}
          </>
        )}
      </FilterBar>
      {isSearch ? (
        <Found project_id={project_id} q={q} names={names} />
      ) : (
        <Filtered project_id={project_id} filters={filters} names={names} />
      )}
    </>
  )
}

type Filters = ReturnType<typeof useFilters<typeof FILTERS>>[0]
interface ListProps {
  project_id: string
  names: ReadonlyMap<string, string>
}

function Filtered({ project_id, filters, names }: ListProps & { filters: Filters }) {
  const list = useList(incidentList, { project_id, ...filters })
  return (
    <DataList
      label="Incidents"
      list={list}
      columns={columnsWith(names)}
      hrefOf={({ incident_id }) => `/p/${project_id}/incidents/${incident_id}`}
      empty={<Empty isFiltered={Object.keys(filters).length > 0} projectId={project_id} />}
    />
  )
}

function Found({ project_id, q, names }: ListProps & { q: string }) {
  const list = useList(foundIncidents, { project_id, q: q.trim() })
  return (
    <DataList
      label="Incidents"
      list={list}
      columns={columnsWith(names)}
      hrefOf={({ incident_id }) => `/p/${project_id}/incidents/${incident_id}`}
      empty={
        <p>No incident is about this. Search by the beginning of an id, a name, an e-mail address or an amount.</p>
      }
    />
  )
}

function BulkButtons({ project_id, filters }: { project_id: string; filters: Filters }) {
  const { may } = useSession()
  const [kind, setKind] = useState<'acknowledge' | 'resolve'>()
  const { items } = useList(incidentList, { project_id, ...filters })
  if (!may('incidents:write', project_id) || (items.length === 0 && kind === undefined)) return null
  const { from, to, ...equal } = filters
  const filter = {
    ...equal,
    ...(from === undefined ? {} : { opened_from: from }),
    ...(to === undefined ? {} : { opened_to: to }),
  }
  return (
    <>
      {(filters.state === undefined || filters.state === 'open') && (
        <Button variant="default" onClick={() => setKind('acknowledge')}>
          Acknowledge all…
        </Button>
      )}
      {filters.state !== 'resolved' && (
        <Button variant="default" onClick={() => setKind('resolve')}>
          Resolve all…
        </Button>
      )}
      {kind !== undefined && (
        <BulkDialog project_id={project_id} kind={kind} filter={filter} onClose={() => setKind(undefined)} />
      )}
    </>
  )
}

function periodText(from: string | undefined, to: string | undefined): string {
  const time = new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  const text = (at: string) => time.format(Date.parse(at))
  if (from === undefined) return to === undefined ? '' : `Before ${text(to)}`
  return to === undefined ? `Since ${text(from)}` : `${text(from)} to ${text(to)}`
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<Incident>[] {
  return [
    {
      title: 'State',
      width: '128px',
      card: 'line',
      cell: ({ state }) => <StateBadge state={state} />,
    },
    {
      title: 'What happened',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: ({ summary }) => <span dir="auto">{summary}</span>,
    },
    {
      title: 'Connection',
      width: '160px',
      cell: ({ connection_id }) => <span className="dim">{names.get(connection_id ?? '') ?? ''}</span>,
    },
    {
      title: 'Owner',
      width: '120px',
      card: 'line',
      cell: ({ assignee }) => <span className="dim">{assignee ?? ''}</span>,
    },
    {
      title: 'Made',
      width: '112px',
      align: 'end',
      card: 'end',
      cell: ({ provider_created_at, opened_at }) => <Time at={provider_created_at ?? opened_at} />,
    },
    {
      title: 'Opened',
      width: '112px',
      align: 'end',
      cell: ({ opened_at }) => (
        <span className="dim">
          <Time at={opened_at} />
        </span>
      ),
    },
  ]
}

function Empty({ isFiltered, projectId }: { isFiltered: boolean; projectId: string }) {
  if (isFiltered) return <p>No incident fits these filters.</p>
  return (
    <>
      <p>No incident yet: every refund and cancellation so far is explained, or none was seen.</p>
      <p>
        <Link to="/p/$project/connections" params={{ project: projectId }}>
          See whether the connections receive events
        </Link>
      </p>
    </>
  )
}
