import { Button } from '@mantine/core'
import { useState } from 'react'
import * as z from 'zod/mini'
import { nameWithAccount, useConnectionNames } from '../../api/connections.ts'
import { incidentList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import type { LiveEvent } from '../../api/live.ts'
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
import { ListPage, useLiveRefresh } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { useSession } from '../../session/session.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { foldStorms } from './fold-storms.ts'
import { incidentColumns } from './incident-columns.tsx'
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

const LIVE = ['incident'] as const
const KEYS = [['incidents', 'list']] as const
/** The API counts a storm, so its row is read again. */
const isInStorm = ({ data }: LiveEvent) => 'storm_id' in data && data.storm_id != null

export function Page() {
  const project_id = useProjectId()
  const filters = useListFilters(FILTERS, { more: <PeriodButton /> })
  const { q: typed = '', ...chosen } = filters.values
  const q = typed.trim()
  const isSearched = q.length >= LEAST_LETTERS
  // A search, and the list of a customer, has incidents one by one.
  const isFolded = !isSearched && chosen.customer_id === undefined
  const more = isSearched ? { q } : isFolded ? { fold_storms: 'true' as const } : {}
  const list = foldStorms(useList(incidentList, { project_id, ...chosen, ...more }))
  useLiveRefresh(LIVE, KEYS, isInStorm)
  const names = useConnectionNames(project_id)
  const isFiltered = isSearched || Object.keys(chosen).length > 0
  return (
    <ListPage
      title="Incidents"
      actions={
        isFiltered &&
        !isSearched &&
        Object.keys(chosen).every(isOfBulk) && <BulkButtons filters={chosen} isEmpty={list.items.length === 0} />
      }
      filters={{ ...filters, isFiltered }}
      list={list}
      columns={incidentColumns(({ connection_id, account }) =>
        nameWithAccount(names.get(connection_id ?? ''), account),
      )}
      opens={({ incident_id, storm }) =>
        storm === undefined ? `/p/${project_id}/incidents/${incident_id}` : `/p/${project_id}/storms/${storm.storm_id}`
      }
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

/** The filters that a bulk change can have. It cannot be undone, so an unfiltered list does not offer it. */
const BULK_FILTERS = ['state', 'code', 'connection_id', 'from', 'to']
const isOfBulk = (name: string) => BULK_FILTERS.includes(name)

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
