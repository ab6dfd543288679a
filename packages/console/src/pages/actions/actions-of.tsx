import type { Action } from '@backstop/client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type ActionsOf, actionList, type Stats, statsOfQuery } from '../../api/actions.ts'
import { useConnectionNames } from '../../api/connections.ts'
import { type ListState, useList } from '../../api/list.ts'
import { DownloadMenu, FilteredList, useLiveRefresh } from '../../parts/list/index.ts'
import { Columns, Marks, PageHead, Part, ProjectLink, Read, useProjectId } from '../../parts/page/index.ts'
import { type FactList, Facts } from '../../parts/show/index.ts'
import { MoneyTable } from '../overview/money-table.tsx'
import { actionColumns } from './action-list.tsx'

const LIVE = ['action'] as const
const KEYS = [['stats', 'of']] as const
const DAYS = 365
const DAY_MS = 24 * 60 * 60_000

interface Actions {
  readonly of: ActionsOf
  readonly list: ListState<Action>
}

/** The actions of one customer, actor or connected account, the newest first. */
export function useActionsOf(of: ActionsOf): Actions {
  const project_id = useProjectId()
  return { of, list: useList(actionList, { project_id, ...of }) }
}

interface Props {
  /** What it is: the heading of the facts. */
  kind: 'Actor' | 'Customer' | 'Connected account'
  title: string
  above: Parameters<typeof PageHead>[0]['above']
  actions: Actions
  buttons?: ReactNode
  facts: FactList
}

/** The page of one customer, actor or connected account: who it is, the sums of a year, and every refund and cancellation. */
export function ActionsOfPage({ kind, title, above, actions: { of, list }, buttons, facts }: Props) {
  const project_id = useProjectId()
  const search: Readonly<Record<string, string | undefined>> = { ...of }
  // The column that would say the same in each row is the heading.
  const columns = actionColumns(useConnectionNames(project_id), true).filter(column => column.title !== kind)
  return (
    <>
      <PageHead
        title={title}
        above={above}
        actions={
          <>
            {buttons}
            <DownloadMenu path="/v1/actions" query={{ project_id, ...of }} />
          </>
        }
      >
        <Marks>
          <ProjectLink page="incidents" search={search}>
            Incidents
          </ProjectLink>
          <ProjectLink page="actions" search={search}>
            Filter the list
          </ProjectLink>
        </Marks>
      </PageHead>
      <div className="body">
        <Columns>
          <div>
            <Part title={kind}>
              <Facts facts={facts} />
            </Part>
          </div>
          <div>
            <Part title={`Sums of ${DAYS} days`}>
              <Sums of={of} />
            </Part>
          </div>
        </Columns>
      </div>
      <FilteredList
        label="Refunds and cancellations"
        list={list}
        columns={columns}
        opens="actions"
        empty="No refund or cancellation was seen yet."
      />
    </>
  )
}

function Sums({ of }: Pick<Actions, 'of'>) {
  useLiveRefresh(LIVE, KEYS)
  const [from] = useState(() => new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10))
  const query = useQuery(statsOfQuery(useProjectId(), of, { from }))
  return (
    <Read query={query} what="The sums could not be read" loading={<Skeleton height={96} />}>
      {({ totals }) => (
        <>
          <MoneyTable totals={totals} />
          <Cancellations totals={totals} />
        </>
      )}
    </Read>
  )
}

function Cancellations({ totals }: Pick<Stats, 'totals'>) {
  const of = totals.filter(({ kind }) => kind === 'cancellation')
  const count = of.reduce((sum, one) => sum + one.count - one.not_carried_out, 0)
  if (count === 0) return null
  const test = of.reduce((sum, one) => sum + (one.mode === 'test' ? one.count - one.not_carried_out : 0), 0)
  return (
    <p>
      {count.toLocaleString('en')} {count === 1 ? 'cancellation' : 'cancellations'}
      {test > 0 && <span className="dim">, {test.toLocaleString('en')} of them test</span>}
    </p>
  )
}
