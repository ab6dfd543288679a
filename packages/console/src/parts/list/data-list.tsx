import { Button, Skeleton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import type { ReactNode } from 'react'
import type { ListState } from '../../api/list.ts'
import { useLiveState } from '../../api/live.ts'
import { formatClock } from '../../format/times.ts'
import { Problem } from '../page/problem.tsx'
import type { Column } from './columns.tsx'
import classes from './data-list.module.css'
import { ListRows } from './list-rows.tsx'

interface Props<T> {
  /** What the list contains, for screen readers and errors, for example `Incidents`. */
  label: string
  list: ListState<T>
  columns: readonly Column<T>[]
  /** The address that a row opens. Without it rows open nothing. */
  hrefOf?: (item: T) => string
  /** Why the list is empty, shown instead of it. */
  empty: ReactNode
  /** Below that: the one thing to do. */
  next?: ReactNode
}

/** Not paper, which is about as narrow as a tablet and has the columns of a desktop. */
const PHONE = 'screen and (max-width: 48em)'

/** A list in its four states: loading, empty, failed, and rows that say when live updates are lost. */
export function DataList<T>({ label, list, columns, hrefOf, empty, next }: Props<T>) {
  const isPhone = useMediaQuery(PHONE, false, { getInitialValueInEffect: false })
  const grid = { gridTemplateColumns: columns.map(({ width }) => width).join(' ') }
  if (list.error !== null) {
    return <Problem error={list.error} retry={list.retry} what={`${label} could not be read`} />
  }
  return (
    <section className={classes.list} aria-label={label} aria-busy={list.isLoading}>
      {!isPhone && (
        <div className={classes.head} style={grid}>
          {columns.map(({ title, about, align }) => (
            <div key={title} data-align={align} title={about}>
              {title}
            </div>
          ))}
        </div>
      )}
      {!list.isLoading && <Stale />}
      {list.isLoading ? (
        <LoadingRows columns={columns} grid={grid} isPhone={isPhone} />
      ) : list.items.length === 0 && list.arrivals.length === 0 ? (
        <div className={classes.empty}>
          <p>{empty}</p>
          {next && <div>{next}</div>}
        </div>
      ) : (
        <ListRows list={list} columns={columns} grid={grid} isPhone={isPhone} hrefOf={hrefOf} />
      )}
    </section>
  )
}

type Grid = { gridTemplateColumns: string }

function LoadingRows<T>({ columns, grid, isPhone }: { columns: readonly Column<T>[]; grid: Grid; isPhone: boolean }) {
  return Array.from({ length: 8 }, (_, at) => at).map(at =>
    isPhone ? (
      <div key={at} className={classes.loadingCard}>
        <Skeleton height={12} width="60%" />
        <Skeleton height={12} width="35%" />
      </div>
    ) : (
      <div key={at} className={classes.loadingRow} style={grid}>
        {columns.map(({ title, align }) => (
          <div key={title} className={classes.cell} data-align={align}>
            <Skeleton height={12} width={align === 'end' ? 64 : '70%'} />
          </div>
        ))}
      </div>
    ),
  )
}

/** Says since when rows may be out of date. */
function Stale() {
  const live = useLiveState()
  if (live.kind !== 'lost') return null
  return (
    <p className={classes.stale} role="status">
      Live updates lost at {formatClock(live.sinceMs)}. The rows may be out of date.{' '}
      <Button size="compact-xs" variant="subtle" onClick={() => window.location.reload()}>
        Reload
      </Button>
    </p>
  )
}
