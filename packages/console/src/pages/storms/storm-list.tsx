import { nameWithAccount, useConnectionNames } from '../../api/connections.ts'
import { type Storm, stormList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { formatMoney } from '../../format/money.ts'
import { connection, defineFilters, useListFilters } from '../../parts/filters/index.ts'
import { type Column, ListPage, textColumn, timeColumn, useLiveRefresh } from '../../parts/list/index.ts'
import { useProjectId } from '../../parts/page/index.ts'
import { StateBadge } from '../../parts/show/index.ts'

const FILTERS = defineFilters(connection)
const LIVE = ['incident'] as const
const KEYS = [['storms', 'list']] as const

export function Page() {
  const project_id = useProjectId()
  const filters = useListFilters(FILTERS)
  useLiveRefresh(LIVE, KEYS)
  return (
    <ListPage
      title="Storms"
      filters={filters}
      list={useList(stormList, { project_id, ...filters.values })}
      columns={columnsWith(useConnectionNames(project_id))}
      opens="storms"
      nothingFits="This connection has had no storm."
      empty="No storm yet. Ten unexplained refunds or cancellations of one connection within five minutes are shown here as one storm."
    />
  )
}

export function countOf({ incidents: { open, acknowledged, resolved } }: Storm): number {
  return open + acknowledged + resolved
}

/** How many actions a storm has. A burst begins its storm before their second looks. */
export function sizeText(storm: Storm): string {
  const count = countOf(storm)
  const burst = storm.bursts?.at(-1)
  if (count > 0 || burst === undefined) return `${count.toLocaleString('en')} unexplained actions`
  return `Burst of ${burst.count.toLocaleString('en')} actions that wait for their second look`
}

type Sum = Storm['money'][number]

/** The sums of a storm or a burst. */
export function moneyText({ money }: { money: readonly (Omit<Sum, 'mode' | 'largest'> & Partial<Sum>)[] }): string {
  return money
    .map(({ amount, currency, mode }) => `${formatMoney(amount, currency)}${mode === 'test' ? ' of test money' : ''}`)
    .join(', ')
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<Storm>[] {
  const howMuch = (storm: Storm) => `${sizeText(storm)}${storm.money.length === 0 ? '' : `, ${moneyText(storm)}`}`
  const whereOf = ({ connection_id, account }: Storm) => nameWithAccount(names.get(connection_id), account)
  return [
    { title: 'State', width: '128px', card: 'line', cell: ({ state }) => <StateBadge state={state} /> },
    textColumn('How much', 'minmax(0, 1fr)', howMuch, { card: 'title' }),
    textColumn('Still open', '96px', ({ incidents }) => String(incidents.open), { tone: 'dim', align: 'end' }),
    textColumn('Actor', '136px', ({ actor }) => actor?.actor_name, { tone: 'dim', card: 'line' }),
    textColumn('Connection', '152px', whereOf, { tone: 'dim', card: 'line' }),
    timeColumn('Began', '104px', ({ began_at }) => began_at),
  ]
}
