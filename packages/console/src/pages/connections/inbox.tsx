import type { Connection } from '@backstop/client'
import { Button } from '@mantine/core'
import { useState } from 'react'
import * as z from 'zod/mini'
import { type InboxEntry, inboxList } from '../../api/inbox.ts'
import { useList } from '../../api/list.ts'
import { Badge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { ChoiceFilter, FilterBar } from '../../parts/filter-bar.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { ReplayProgress } from './replay-progress.tsx'
import { ReplayWindow } from './replay-window.tsx'
import { OUTCOMES } from './words.ts'

const OUTCOME_OPTIONS = (['recorded', 'ignored', 'hinted', 'held', 'parked'] as const).map(value => ({
  value,
  label: OUTCOMES[value].label,
}))
const FILTERS = { outcome: z.enum(OUTCOME_OPTIONS.map(({ value }) => value)), replay_id: z.string() }

/** Every event of the connection with its outcome, and the replays. */
export function Inbox({ connection }: { connection: Connection }) {
  const { project_id, connection_id } = connection
  const { may } = useSession()
  const [filters, setFilters, bind] = useFilters(FILTERS)
  const [isReplaying, setIsReplaying] = useState(false)
  const list = useList(inboxList, { connection_id, ...filters })
  const isFiltered = Object.keys(filters).length > 0
  return (
    <>
      <FilterBar
        end={
          <>
            <Button variant="default" onClick={list.retry}>
              Read again
            </Button>
            {may('manage', project_id) && (
              <Button variant="default" onClick={() => setIsReplaying(true)}>
                Replay a window…
              </Button>
            )}
          </>
        }
      >
        <ChoiceFilter label="Outcome" options={OUTCOME_OPTIONS} {...bind('outcome')} />
        {filters.replay_id !== undefined && (
          <Button variant="default" onClick={() => setFilters({ replay_id: undefined })}>
            Of one replay ✕
          </Button>
        )}
      </FilterBar>
      <ReplayProgress connection={connection} />
      <ReplayWindow
        connection={connection}
        outcome={filters.outcome}
        isOpen={isReplaying}
        onClose={() => setIsReplaying(false)}
      />
      <DataList
        label="Events"
        list={list}
        columns={COLUMNS}
        hrefOf={({ event_id }) =>
          `/p/${project_id}/connections/${connection_id}?${new URLSearchParams({ tab: 'inbox', ...filters, event: event_id })}`
        }
        empty={
          isFiltered ? (
            <p>No event fits these filters.</p>
          ) : (
            <>
              <p>No event has arrived yet.</p>
              <p>
                <a href={`/p/${project_id}/connections/${connection_id}?tab=setup`}>See the steps at the provider</a>
              </p>
            </>
          )
        }
      />
    </>
  )
}

const COLUMNS: readonly Column<InboxEntry>[] = [
  {
    title: 'Event',
    width: '260px',
    card: 'title',
    cell: ({ event_type }) => (
      <span className={`mono ${classes.name}`} dir="auto" title={event_type}>
        {event_type}
      </span>
    ),
  },
  { title: 'Outcome', width: '140px', card: 'line', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  {
    title: 'Why',
    width: 'minmax(0, 1fr)',
    card: 'line',
    cell: ({ reason }) => (
      <span className={`dim ${classes.name}`} dir="auto" title={reason}>
        {reason}
      </span>
    ),
  },
  timeColumn('Received', '130px', ({ received_at }) => received_at),
]

export function OutcomeBadge({ outcome }: { outcome: InboxEntry['outcome'] }) {
  const { label } = OUTCOMES[outcome]
  switch (outcome) {
    case 'parked':
      return <Badge tone="alarm">{label}</Badge>
    case 'held':
      return <Badge tone="waits">{label}</Badge>
    case 'recorded':
    case 'ignored':
    case 'hinted':
      return <Badge tone="quiet">{label}</Badge>
    default:
      return outcome satisfies never
  }
}
