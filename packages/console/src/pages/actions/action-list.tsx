import type { Action } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { actionList } from '../../api/actions.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { AmountFilter } from '../../parts/amount-filter.tsx'
import { VerdictBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { DownloadMenu } from '../../parts/download-menu.tsx'
import { ChoiceFilter, FilterBar, optionsOf, SearchChoiceFilter, TextFilter } from '../../parts/filter-bar.tsx'
import { AMOUNT_PARAMS, amountQuery, MADE_PARAMS, TIME_PARAMS } from '../../parts/filter-params.ts'
import classes from '../../parts/filters.module.css'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { TimeFilter } from '../../parts/time-filter.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import { KINDS, REASONS, VERDICTS } from './words.ts'

type Reason = Action['reason']

const REASON_OPTIONS = Object.entries(REASONS).map(([value, { label }]) => ({ value, label }))
const MODES = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
] as const
const FILTERS = {
  verdict: z.enum(VERDICTS.map(({ value }) => value)),
  reason: z.enum(Object.keys(REASONS) as [Reason, ...Reason[]]),
  kind: z.enum(KINDS.map(({ value }) => value)),
  connection_id: z.string(),
  subject: z.string(),
  ...AMOUNT_PARAMS,
  ...TIME_PARAMS,
  ...MADE_PARAMS,
  mode: z.enum(['live', 'test']),
}

export function Page() {
  const project_id = useProjectId()
  const [{ min_amount, max_amount, ...filters }, setFilters, bind] = useFilters(FILTERS)
  const query = { project_id, ...filters, ...amountQuery({ min_amount, max_amount }) }
  const list = useList(actionList, query)
  const names = useConnectionNames(project_id)
  return (
    <>
      <PageHead title="Refunds and cancellations" actions={<DownloadMenu path="/v1/actions" query={query} />} />
      <FilterBar>
        <ChoiceFilter label="Verdict" options={VERDICTS} {...bind('verdict')} />
        <ChoiceFilter label="Kind" options={KINDS} {...bind('kind')} />
        <AmountFilter
          value={{ currency: filters.currency, min_amount, max_amount }}
          onChange={amounts => setFilters(amounts)}
        />
        <TimeFilter
          label="Made"
          value={{ from: filters.made_from, to: filters.made_to }}
          onChange={({ from, to }) => setFilters({ made_from: from, made_to: to })}
        />
        <TimeFilter
          label="First seen"
          value={{ from: filters.from, to: filters.to }}
          onChange={period => setFilters(period)}
        />
        <ChoiceFilter label="Mode" options={MODES} {...bind('mode')} />
        <ChoiceFilter label="Connection" options={optionsOf(names)} {...bind('connection_id')} />
        <SearchChoiceFilter
          label="Reason"
          value={filters.reason}
          options={REASON_OPTIONS}
          onChange={reason => setFilters({ reason: reason as Reason | undefined })}
        />
        <TextFilter label="Payment or subscription id" {...bind('subject')} />
      </FilterBar>
      <DataList
        label="Refunds and cancellations"
        list={list}
        columns={columnsWith(names, filters.made_from !== undefined || filters.made_to !== undefined)}
        hrefOf={({ action_id }) => `/p/${project_id}/actions/${action_id}`}
        empty={<Empty isFiltered={Object.keys(query).length > 1} projectId={project_id} />}
      />
    </>
  )
}

/** @param isByMade true to show the time of the provider, by which the list is filtered */
function columnsWith(names: ReadonlyMap<string, string>, isByMade: boolean): readonly Column<Action>[] {
  return [
    { title: 'Verdict', width: '116px', card: 'line', cell: ({ verdict }) => <VerdictBadge verdict={verdict} /> },
    {
      title: 'What',
      width: 'minmax(92px, 0.8fr)',
      card: 'title',
      cell: ({ kind }) => KINDS.find(({ value }) => value === kind)?.label,
    },
    {
      title: 'Amount',
      width: '136px',
      align: 'end',
      card: 'title',
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    {
      title: 'Customer',
      width: 'minmax(0, 1fr)',
      card: 'line',
      cell: ({ customer, subject }) =>
        customer?.name ? (
          <bdi className={classes.reason}>{customer.name}</bdi>
        ) : (
          <span className={`mono dim ${classes.reason}`}>{subject}</span>
        ),
    },
    {
      title: 'Reason',
      width: 'minmax(0, 1.6fr)',
      card: 'line',
      cell: ({ reason }) => <span className={`dim ${classes.reason}`}>{REASONS[reason].label}</span>,
    },
    {
      title: 'Connection',
      width: 'minmax(0, 0.9fr)',
      cell: ({ connection_id }) => <bdi className={`dim ${classes.reason}`}>{names.get(connection_id) ?? ''}</bdi>,
    },
    timeColumn(isByMade ? 'Made' : 'First seen', '112px', ({ first_seen_at, provider_created_at }) =>
      isByMade ? provider_created_at : first_seen_at,
    ),
  ]
}

function Empty({ isFiltered, projectId }: { isFiltered: boolean; projectId: string }) {
  if (isFiltered) return <p>No refund or cancellation fits these filters.</p>
  return (
    <>
      <p>No refund or cancellation was seen yet.</p>
      <p>
        <Link to="/p/$project/connections" params={{ project: projectId }}>
          See whether the connections receive events
        </Link>
      </p>
    </>
  )
}
