import type { ShownOperation } from '@backstop/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import * as z from 'zod/mini'
import { connectionList } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { operationList } from '../../api/operations.ts'
import { StateBadge } from '../../parts/badges.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { DownloadMenu } from '../../parts/download-menu.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../parts/filter-bar.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { Time } from '../../parts/time.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId } from '../../parts/use-route.ts'
import classes from './operations.module.css'
import { useReadAgain } from './use-read-again.ts'
import { OPERATION_STATES } from './words.ts'

const FILTERS = {
  state: z.enum(OPERATION_STATES.map(({ value }) => value)),
  connection_id: z.string(),
  subject: z.string(),
  run_id: z.string(),
}

export function Page() {
  const project_id = useProjectId()
  const [filters, setFilters] = useFilters(FILTERS)
  const query = { project_id, ...filters }
  const list = useList(operationList, query)
  useReadAgain('operations')
  const connections = useList(connectionList, { project_id }).items
  const names = new Map(connections.map(({ connection_id, name }) => [connection_id, name]))
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
        <ChoiceFilter
          label="State"
          value={filters.state}
          options={OPERATION_STATES}
          onChange={state => setFilters({ state })}
        />
        <ChoiceFilter
          label="Connection"
          value={filters.connection_id}
          options={connections.map(({ connection_id, name }) => ({ value: connection_id, label: name }))}
          onChange={connection_id => setFilters({ connection_id })}
        />
        <TextFilter
          label="Payment or subscription id"
          value={filters.subject}
          onChange={subject => setFilters({ subject })}
        />
        <TextFilter label="Run" value={filters.run_id} onChange={run_id => setFilters({ run_id })} />
      </FilterBar>
      <DataList
        label="Operations"
        list={list}
        columns={columnsWith(names)}
        hrefOf={({ operation_id }) => `/p/${project_id}/operations/${operation_id}`}
        empty={<Empty isFiltered={Object.keys(filters).length > 0} />}
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
      cell: ({ kind }) => (kind === 'refund' ? 'Refund' : 'Cancellation'),
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
    {
      title: 'Reported',
      width: '112px',
      align: 'end',
      card: 'end',
      cell: ({ created_at }) => (
        <span className="dim">
          <Time at={created_at} />
        </span>
      ),
    },
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
