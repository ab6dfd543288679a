import { SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { type Stats, statsQuery } from '../../api/actions.ts'
import { connectionsQuery } from '../../api/connections.ts'
import { stormList } from '../../api/incidents.ts'
import { useList } from '../../api/list.ts'
import { useFilters } from '../../parts/filters/index.ts'
import { useLiveRefresh } from '../../parts/list/index.ts'
import { PageHead, Problem, ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { useNow } from '../../parts/show/index.ts'
import { attentionQuery } from './attention.ts'
import { Attention, WaitingApprovals } from './attention-rows.tsx'
import { DayChart, daysOf } from './day-chart.tsx'
import { HealthRows } from './health-rows.tsx'
import { MoneyTable } from './money-table.tsx'
import classes from './overview.module.css'
import { isNothingSeen, overviewSentence } from './overview-sentence.ts'

const RANGES = ['7', '30', '90'] as const
const FILTERS = { days: z.enum(RANGES) }
const LIVE = ['incident', 'action'] as const
const COUNTS_FOLLOW = 'The counts of today follow within seconds.'
const KEYS = [['incidents', 'attention'], ['stats'], ['storms', 'list']] as const

export function Page() {
  const project = useProjectId()
  const [filters, setFilters] = useFilters(FILTERS)
  const days = Number(filters.days ?? '7')
  const stats = useQuery(statsQuery(project, days))
  const attention = useQuery(attentionQuery(project))
  const storms = useList(stormList, { project_id: project })
  // All that stands above the chart, so that nothing moves afterwards.
  const isPending = attention.isPending || storms.isLoading
  const now = useNow()
  useLiveRefresh(LIVE, KEYS)
  const isKnown = stats.data !== undefined && attention.data !== undefined
  const { data: connections } = useQuery(connectionsQuery(project))
  // A project that sees nothing must not call itself quiet.
  const isBlind = connections?.length === 0 && stats.data?.totals.length === 0 && attention.data?.incidents.length === 0
  const sentence = isKnown ? overviewSentence(attention.data.unresolved, stats.data, days, now) : 'Overview'
  const title = isBlind ? 'No account is connected yet' : sentence
  return (
    <>
      <PageHead
        title={title}
        actions={
          <SegmentedControl
            size="xs"
            aria-label="Period"
            data={RANGES.map(value => ({ value, label: `${value} days` }))}
            value={filters.days ?? '7'}
            onChange={value => setFilters({ days: value === '7' ? undefined : (value as '30' | '90') })}
          />
        }
      />
      <div className={classes.body} aria-busy={isPending}>
        {isPending ? (
          <Loading />
        ) : (
          <>
            {attention.data === undefined ? (
              <Problem
                error={attention.error}
                retry={() => void attention.refetch()}
                what="The open incidents could not be read"
              />
            ) : (
              <>
                <Attention
                  incidents={attention.data.incidents}
                  hasMore={attention.data.hasMore}
                  storms={storms.items}
                />
                <WaitingApprovals count={attention.data.unresolved.approvals_pending} />
              </>
            )}
            {stats.error !== null && stats.data === undefined ? (
              <Problem
                error={stats.error}
                retry={() => void stats.refetch()}
                what="The verdicts could not be counted"
              />
            ) : (
              <Counts
                stats={stats.data}
                beingChecked={attention.data?.unresolved.being_checked ?? 0}
                days={days}
                now={now}
              />
            )}
            <HealthRows project={project} />
          </>
        )}
      </div>
    </>
  )
}

/** The shape of the rows and the chart that follow. */
function Loading() {
  return (
    <>
      <section className={classes.section}>
        {Array.from({ length: 4 }, (_, at) => at).map(at => (
          <div key={at} className={classes.loadingRow}>
            <Skeleton height={12} width={72} />
            <Skeleton height={12} width="60%" />
            <Skeleton height={12} width={64} />
          </div>
        ))}
      </section>
      <section className={classes.section}>
        <Skeleton height={12} width={96} mb="sm" />
        <Skeleton height={160} />
      </section>
    </>
  )
}

interface CountsProps {
  stats: Stats | undefined
  /** The actions that wait for their second look. */
  beingChecked: number
  days: number
  now: number
}

function Counts({ stats, beingChecked, days, now }: CountsProps) {
  const isEmpty = stats?.totals.length === 0
  return (
    <>
      <section className={classes.section} aria-busy={stats === undefined || undefined}>
        <h2>Verdicts by day</h2>
        {stats === undefined ? (
          <Skeleton height={160} />
        ) : isEmpty && isNothingSeen(stats, beingChecked) ? (
          <p className="dim">
            No refund and no cancellation was seen in {days} days.{' '}
            <ProjectLink page="connections">See whether the connections receive events</ProjectLink>
          </p>
        ) : (
          <>
            {!isEmpty && <DayChart days={daysOf(stats, days, now)} />}
            {(isEmpty || stats.recount_pending) && <p className="faint">{COUNTS_FOLLOW}</p>}
          </>
        )}
      </section>
      {stats !== undefined && !isEmpty && (
        <section className={classes.section}>
          <h2>Money refunded in {days} days</h2>
          <MoneyTable totals={stats.totals} />
        </section>
      )}
    </>
  )
}
