import type { Incident } from '@backstop/client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import * as z from 'zod/mini'
import { nameWithAccount, useConnectionNames } from '../../api/connections.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { shortenIds } from '../../format/ids.ts'
import {
  actor,
  choice,
  connection,
  defineFilters,
  param,
  text,
  useFilters,
  useListFilters,
} from '../../parts/filters/index.ts'
import { type Column, ListPage, textColumn, timeColumn } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { StateBadge, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { INCIDENT_CODES } from './words.ts'

const STATES = [
  { value: 'open', label: 'Open' },
  { value: 'acknowledged', label: 'Acknowledged' },
  { value: 'resolved', label: 'Resolved' },
] as const
const FILTERS = defineFilters(
  text('q', 'Id, customer or amount'),
  choice('state', 'State', STATES),
  choice('code', 'Kind', INCIDENT_CODES),
  connection,
  text('account', 'Connected account'),
  text('customer_id', 'Customer id'),
  actor,
  param('from', z.iso.datetime()),
  param('to', z.iso.datetime()),
)
/** The API searches for no shorter text. */
const LEAST_LETTERS = 2

export function Page() {
  const project_id = useProjectId()
  const filters = useListFilters(FILTERS, { more: <PeriodButton /> })
  const { q: typed = '', ...chosen } = filters.values
  const q = typed.trim()
  const isSearched = q.length >= LEAST_LETTERS
  const list = useList(incidentList, { project_id, ...chosen, ...(isSearched ? { q } : {}) })
  const isFiltered = isSearched || Object.keys(chosen).length > 0
  return (
    <ListPage
      title="Incidents"
      // A change of many needs filters that stay the same while it runs, so a searched list has none, and knows neither accounts, customers nor actors.
      actions={
        !isSearched &&
        chosen.account === undefined &&
        chosen.customer_id === undefined &&
        chosen.actor_id === undefined && <BulkButtons filters={chosen} isEmpty={list.items.length === 0} />
      }
      filters={{ ...filters, isFiltered }}
      list={list}
      columns={columnsWith(useConnectionNames(project_id))}
      opens="incidents"
      nothingFits={
        isSearched
          ? 'No incident is about this. Search by the beginning of an id, a name, an e-mail address or an amount.'
          : 'No incident fits these filters.'
      }
      empty="No incident yet: every refund and cancellation so far is explained, or none was seen."
      next={<ProjectLink page="connections">See whether the connections receive events</ProjectLink>}
    />
  )
}

type Filters = Omit<ReturnType<typeof useListFilters<typeof FILTERS.params>>['values'], 'q'>

function BulkButtons({ filters: { from, to, ...equal }, isEmpty }: { filters: Filters; isEmpty: boolean }) {
  const project_id = useProjectId()
  const { may } = useSession()
  const [kind, setKind] = useState<'acknowledge' | 'resolve'>()
  if ((isEmpty && kind === undefined) || !may('incidents:write', project_id)) return null
  const filter = { ...equal, ...(from && { opened_from: from }), ...(to && { opened_to: to }) }
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

/** The period of a link to this list, and the button that removes it. */
function PeriodButton() {
  const [{ from, to }, change] = useFilters(FILTERS.params)
  if (from === undefined && to === undefined) return null
  const time = new Intl.DateTimeFormat(undefined, {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
  const name = (at: string) => time.format(Date.parse(at))
  const period =
    from === undefined
      ? `Before ${name(to as string)}`
      : to === undefined
        ? `Since ${name(from)}`
        : `${name(from)} to ${name(to)}`
  return (
    <Button variant="default" onClick={() => change({ from: undefined, to: undefined })}>
      {period} ×
    </Button>
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<Incident>[] {
  const placeOf = ({ connection_id, account }: Incident) => nameWithAccount(names.get(connection_id ?? ''), account)
  return [
    { title: 'State', width: '112px', card: 'line', cell: ({ state }) => <StateBadge state={state} /> },
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
    textColumn('Connection', '128px', placeOf, { tone: 'dim' }),
    textColumn('Actor', '104px', ({ actor_name, burst }) => actor_name ?? burst?.common?.actor?.name, {
      tone: 'dim',
      card: 'line',
    }),
    textColumn('Owner', '104px', ({ assignee }) => assignee, { tone: 'dim', card: 'line' }),
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
