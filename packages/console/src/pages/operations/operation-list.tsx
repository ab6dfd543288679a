import type { ShownOperation } from '@backstop/client'
import { Button } from '@mantine/core'
import * as z from 'zod/mini'
import { useConnectionNames } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { operationList } from '../../api/operations.ts'
import { amounts, choice, connection, defineFilters, period, text, useListFilters } from '../../parts/filters/index.ts'
import {
  type Column,
  DownloadMenu,
  ListPage,
  moneyColumn,
  textColumn,
  timeColumn,
  useReadAgain,
} from '../../parts/list/index.ts'
import { ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { StateBadge } from '../../parts/show/index.ts'
import { ReporterLine } from '../connections/setup/reporter-line.tsx'
import { OPERATION_KINDS, OPERATION_STATES } from './words.ts'

const FILTERS = defineFilters(
  choice('state', 'State', OPERATION_STATES),
  choice('kind', 'Kind', OPERATION_KINDS),
  amounts,
  period('Reported', 'from', 'to'),
  connection,
  text('subject', 'Payment or subscription id'),
  text('provider_ref', 'Refund or cancellation id', z.string().check(z.maxLength(255))),
  text('run_id', 'Run of your software'),
)

export function Page() {
  const project_id = useProjectId()
  const filters = useListFilters(FILTERS)
  const query = { project_id, ...filters.values }
  useReadAgain('operations')
  const names = useConnectionNames(project_id)
  return (
    <ListPage
      title="Operations"
      about="Refunds and cancellations that your software reported."
      actions={
        <>
          <Button component={ProjectLink} page="runs" variant="default">
            Failed runs
          </Button>
          <DownloadMenu path="/v1/operations" query={query} />
        </>
      }
      filters={filters}
      list={useList(operationList, query)}
      columns={columnsWith(names)}
      opens="operations"
      nothingFits="No operation fits these filters."
      empty="Your software has not reported an operation yet. Each one that it reports explains its refund or cancellation."
      next={<ReporterLine />}
    />
  )
}

function columnsWith(names: ReadonlyMap<string, string>): readonly Column<ShownOperation>[] {
  const kindOf = ({ kind }: ShownOperation) => OPERATION_KINDS.find(({ value }) => value === kind)?.label
  return [
    { title: 'State', width: '156px', card: 'line', cell: ({ state }) => <StateBadge state={state} /> },
    textColumn('What', '108px', kindOf, { card: 'title' }),
    moneyColumn('112px', operation => operation, 'title'),
    textColumn('Payment or subscription', 'minmax(0, 1.2fr)', ({ subject }) => subject, {
      tone: 'mono dim',
      card: 'line',
    }),
    textColumn('Program run', 'minmax(0, 1fr)', ({ run_id }) => run_id, { tone: 'dim' }),
    textColumn('Connection', 'minmax(0, 1fr)', ({ connection_id }) => names.get(connection_id), { tone: 'dim' }),
    timeColumn('Reported', '112px', ({ created_at }) => created_at),
  ]
}
