import type { Action } from '@backstop/client'
import { actionList } from '../../api/actions.ts'
import { nameWithAccount, useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import {
  actor,
  amounts,
  choice,
  connection,
  defineFilters,
  period,
  searchChoice,
  text,
  useListFilters,
} from '../../parts/filters/index.ts'
import { type Column, DownloadMenu, ListPage, moneyColumn, textColumn, timeColumn } from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { VerdictBadge } from '../../parts/show/index.ts'
import { nameOfCustomer } from '../customers/customer-link.tsx'
import { KINDS, REASONS, VERDICTS } from './words.ts'

const REASON_OPTIONS = Object.entries(REASONS).map(([value, { label }]) => ({
  value: value as Action['reason'],
  label,
}))
const MODES = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
] as const
const FILTERS = defineFilters(
  choice('verdict', 'Verdict', VERDICTS),
  choice('kind', 'Kind', KINDS),
  amounts,
  period('Made', 'made_from', 'made_to'),
  period('First seen', 'from', 'to'),
  choice('mode', 'Mode', MODES),
  connection,
  searchChoice('reason', 'Reason', REASON_OPTIONS),
  text('subject', 'Payment or subscription id'),
  text('account', 'Connected account'),
  text('customer_id', 'Customer id'),
  actor,
)

export function Page() {
  const project_id = useProjectId()
  const filters = useListFilters(FILTERS)
  const { made_from, made_to } = filters.values
  const query = { project_id, ...filters.values }
  const names = useConnectionNames(project_id)
  return (
    <ListPage
      title="Refunds and cancellations"
      actions={<DownloadMenu path="/v1/actions" query={query} />}
      filters={filters}
      list={useList(actionList, query)}
      columns={actionColumns(names, made_from !== undefined || made_to !== undefined)}
      opens="actions"
      nothingFits="No refund or cancellation fits these filters."
      empty="No refund or cancellation was seen yet."
      next={<ProjectLink page="connections">See whether the connections receive events</ProjectLink>}
    />
  )
}

/** @param isByMade true to show the time of the provider, by which the list is filtered */
export function actionColumns(names: ReadonlyMap<string, string>, isByMade: boolean): readonly Column<Action>[] {
  const placeOf = ({ connection_id, account }: Action) => nameWithAccount(names.get(connection_id), account)
  const kindOf = ({ kind }: Action) => KINDS.find(({ value }) => value === kind)?.label
  return [
    { title: 'Verdict', width: '116px', card: 'line', cell: ({ verdict }) => <VerdictBadge verdict={verdict} /> },
    textColumn('What', 'minmax(92px, 0.8fr)', kindOf, { card: 'title' }),
    moneyColumn('136px', action => action, 'title'),
    {
      title: 'Customer',
      width: 'minmax(0, 1fr)',
      card: 'line',
      cell({ customer, subject }) {
        const name = nameOfCustomer(customer)
        return name === undefined ? <span className="mono dim">{subject}</span> : <bdi>{name}</bdi>
      },
    },
    textColumn('Reason', 'minmax(0, 1.6fr)', ({ reason }) => REASONS[reason].label, { tone: 'dim', card: 'line' }),
    textColumn('Actor', 'minmax(0, 0.7fr)', ({ actor_name }) => actor_name, { tone: 'dim', card: 'line' }),
    textColumn('Connection', 'minmax(0, 0.9fr)', placeOf, { tone: 'dim' }),
    timeColumn(isByMade ? 'Made' : 'First seen', '112px', ({ first_seen_at, provider_created_at }) =>
      isByMade ? provider_created_at : first_seen_at,
    ),
  ]
}
