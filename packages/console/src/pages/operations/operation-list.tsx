import type { ShownOperation } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { operationList } from '../../api/operations.ts'
import { AmountFilter } from '../../parts/amount-filter.tsx'
import { StateBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { DownloadMenu } from '../../parts/download-menu.tsx'
import { ChoiceFilter, FilterBar, optionsOf, TextFilter } from '../../parts/filter-bar.tsx'
import { AMOUNT_PARAMS, amountQuery, TIME_PARAMS } from '../../parts/filter-params.ts'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { TimeFilter } from '../../parts/time-filter.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { OPERATION_KINDS, OPERATION_STATES } from './words.ts'

const FILTERS = {
  state: z.enum(OPERATION_STATES.map(({ value }) => value)),
  kind: z.enum(OPERATION_KINDS.map(({ value }) => value)),
  ...AMOUNT_PARAMS,
  ...TIME_PARAMS,
  connection_id: z.string(),
  subject: z.string(),
  provider_ref: z.string().check(z.maxLength(255)),
  run_id: z.string(),
}

export function Page() {
  const project_id = useProjectId()
  const [{ min_amount, max_amount, ...filters }, setFilters, bind] = useFilters(FILTERS)
  const query = { project_id, ...filters, ...amountQuery({ min_amount, max_amount }) }
  const list = useList(operationList, query)
  useReadAgain('operations')
  const names = useConnectionNames(project_id)
  return (
    <>
      <PageHead
        title="Operations"
        actions={
          <>
            <Button component={Link} to={`/p/${project_id}/runs`} variant="default">
              Failed runs
            </Button>
            <DownloadMenu path="/v1/operations" query={query} />
          </>
        }
      >
        <p className="dim">Refunds and cancellations that your software reported.</p>
      </PageHead>
      <FilterBar>
        <ChoiceFilter label="State" options={OPERATION_STATES} {...bind('state')} />
        <ChoiceFilter label="Kind" options={OPERATION_KINDS} {...bind('kind')} />
        <AmountFilter value={{ currency: filters.currency, min_amount, max_amount }} onChange={setFilters} />
        <TimeFilter label="Reported" value={{ from: filters.from, to: filters.to }} onChange={setFilters} />
        <ChoiceFilter label="Connection" options={optionsOf(names)} {...bind('connection_id')} />
        <TextFilter label="Payment or subscription id" {...bind('subject')} />
        <TextFilter label="Refund or cancellation id" {...bind('provider_ref')} />
        <TextFilter label="Run" {...bind('run_id')} />
      </FilterBar>
      <DataList
        label="Operations"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ operation_id }) => `/p/${project_id}/operations/${operation_id}`}
        empty={<Empty isFiltered={Object.keys(query).length > 1} />}
      />
    </>
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ShownOperation>[] {
  return [
    { title: 'State', width: '156px', card: 'line', cell: ({ state }) => <StateBadge state={state} /> },
    {
      title: 'What',
      width: '108px',
      card: 'title',
      cell: ({ kind }) => OPERATION_KINDS.find(({ value }) => value === kind)?.label,
    },
    {
      title: 'Amount',
      width: '112px',
      align: 'end',
      card: 'title',
      cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
    },
    {
      title: 'Payment or subscription',
      width: 'minmax(0, 1.2fr)',
      card: 'line',
      cell: ({ subject }) => <span className={`mono dim ${classes.cut}`}>{subject}</span>,
    },
    {
      title: 'Run',
      width: 'minmax(0, 1fr)',
      cell: ({ run_id }) => <bdi className={`dim ${classes.cut}`}>{run_id ?? ''}</bdi>,
    },
    {
      title: 'Connection',
      width: 'minmax(0, 1fr)',
      cell: ({ connection_id }) => <bdi className={`dim ${classes.cut}`}>{names.get(connection_id) ?? ''}</bdi>,
    },
    timeColumn('Reported', '112px', ({ created_at }) => created_at),
  ]
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <p>No operation fits these filters.</p>
  return (
    <>
      <p>
        Your software has not reported an operation yet. Each one that it reports explains its refund or cancellation.
      </p>
      <p>
        Report them with <span className="mono">POST /v1/operations</span> and a key with the scope{' '}
        <span className="mono">operations:write</span>.
      </p>
    </>
  )
}
