import type { Incident } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import * as z from 'zod/mini'
import { useConnectionNames } from '../../api/connections.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { shortenIds } from '../../format/ids.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { ChoiceFilter, FilterBar, optionsOf, TextFilter } from '../../parts/filter-bar.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { INCIDENT_CODES } from './codes.ts'

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
  q: z.string(),
}
/** The API searches for no shorter text. */
const LEAST_LETTERS = 2

export function Page() {
  const project_id = useProjectId()
  const [{ q: typed, ...chosen }, setFilters, bind] = useFilters(FILTERS)
  const names = useConnectionNames(project_id)
  const q = (typed ?? '').trim()
  const filters = q.length < LEAST_LETTERS ? chosen : { ...chosen, q }
  const list = useList(incidentList, { project_id, ...filters })
  const { from, to } = filters
  return (
    <>
      <PageHead
        title="Incidents"
        actions={<BulkButtons project_id={project_id} filters={filters} isEmpty={list.items.length === 0} />}
      />
      <FilterBar>
        <TextFilter label="Id, customer or amount" {...bind('q')} />
        <ChoiceFilter label="State" options={STATES} {...bind('state')} />
        <ChoiceFilter label="Kind" options={INCIDENT_CODES} {...bind('code')} />
        <ChoiceFilter label="Connection" options={optionsOf(names)} {...bind('connection_id')} />
        {(from !== undefined || to !== undefined) && (
          <Button variant="default" onClick={() => setFilters({ from: undefined, to: undefined })}>
            {periodText(from, to)} ×
          </Button>
        )}
      </FilterBar>
      <DataList
        label="Incidents"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ incident_id }) => `/p/${project_id}/incidents/${incident_id}`}
        empty={<Empty filters={filters} projectId={project_id} />}
      />
    </>
  )
}

type Filters = ReturnType<typeof useFilters<typeof FILTERS>>[0]

/** A change of many needs filters that stay the same while it runs, so a searched list has none. */
function BulkButtons({
  project_id,
  filters: { q, from, to, ...equal },
  isEmpty,
}: {
  project_id: string
  filters: Filters
  isEmpty: boolean
}) {
  const { may } = useSession()
  const [kind, setKind] = useState<'acknowledge' | 'resolve'>()
  const isOffered = q === undefined && (!isEmpty || kind !== undefined)
  if (!isOffered || !may('incidents:write', project_id)) return null
  const filter = {
    ...equal,
    ...(from === undefined ? {} : { opened_from: from }),
    ...(to === undefined ? {} : { opened_to: to }),
  }
  return (
    <>
      {(equal.state === undefined || equal.state === 'open') && (
        <Button variant="default" onClick={() => setKind('acknowledge')}>
          Acknowledge all…
        </Button>
      )}
      {equal.state !== 'resolved' && (
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
      width: '112px',
      card: 'line',
      cell: ({ state }) => <StateBadge state={state} />,
    },
    {
      title: 'What happened',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: ({ summary }) => (
        <span dir="auto" title={summary}>
          {shortenIds(summary)}
        </span>
      ),
    },
    {
      title: 'Connection',
      width: '128px',
      cell: ({ connection_id }) => <span className="dim">{names.get(connection_id ?? '') ?? ''}</span>,
    },
    {
      title: 'Owner',
      width: '104px',
      card: 'line',
      cell: ({ assignee }) => <span className="dim">{assignee ?? ''}</span>,
    },
    {
      title: 'Made',
      width: '96px',
      align: 'end',
      card: 'end',
      cell: ({ provider_created_at, opened_at }) => <Time at={provider_created_at ?? opened_at} />,
    },
    timeColumn('Opened', '96px', ({ opened_at }) => opened_at, { isOnCard: false }),
  ]
}

function Empty({ filters, projectId }: { filters: Filters; projectId: string }) {
  if (filters.q !== undefined)
    return <p>No incident is about this. Search by the beginning of an id, a name, an e-mail address or an amount.</p>
  if (Object.keys(filters).length > 0) return <p>No incident fits these filters.</p>
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
