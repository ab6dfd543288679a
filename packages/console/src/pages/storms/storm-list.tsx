import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { type Storm, stormList } from '../../api/storms.ts'
import { formatMoney } from '../../format/money.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { useLiveRefresh } from '../../parts/use-live-refresh.ts'
import { useProjectId } from '../../parts/use-route.ts'

const LIVE = ['incident'] as const
const KEYS = [['storms', 'list']] as const

export function Page() {
  const project_id = useProjectId()
  const list = useList(stormList, { project_id })
  useLiveRefresh(LIVE, KEYS)
  const names = useConnectionNames(project_id)
  return (
    <>
      <PageHead title="Storms" />
      <DataList
        label="Storms"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ storm_id }) => `/p/${project_id}/storms/${storm_id}`}
        empty={
          <p>
            No storm yet. Ten unexplained refunds or cancellations of one connection within five minutes are shown here
            as one storm.
          </p>
        }
      />
    </>
  )
}

export function countOf({ incidents: { open, acknowledged, resolved } }: Storm): number {
  return open + acknowledged + resolved
}

export function moneyText({ money }: Pick<Storm, 'money'>): string {
  return money
    .map(({ amount, currency, mode }) => `${formatMoney(amount, currency)}${mode === 'test' ? ' of test money' : ''}`)
    .join(', ')
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<Storm>[] {
  return [
    { title: 'State', width: '128px', card: 'line', cell: ({ state }) => <StateBadge state={state} /> },
    {
      title: 'How much',
      width: 'minmax(0, 1fr)',
      card: 'title',
      cell: storm => (
        <span>
          {countOf(storm)} actions{storm.money.length === 0 ? '' : `, ${moneyText(storm)}`}
        </span>
      ),
    },
    {
      title: 'Still open',
      width: '96px',
      align: 'end',
      cell: ({ incidents }) => <span className="dim">{incidents.open}</span>,
    },
    {
      title: 'Connection',
      width: '200px',
      card: 'line',
      cell: ({ connection_id }) => <span className="dim">{names.get(connection_id) ?? ''}</span>,
    },
    timeColumn('Began', '120px', ({ began_at }) => began_at),
  ]
}
