import type { Connection } from '@backstop/client'
import { Button, Modal } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type InboxEntry, inboxList } from '../../api/connections.ts'
import { useList } from '../../api/list.ts'
import { choice, defineFilters, param, useFilters, useListFilters } from '../../parts/filters/index.ts'
import { type Column, FilteredList, textColumn, timeColumn } from '../../parts/list/index.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { Badge } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { ReplayProgress } from './replay-progress.tsx'
import { ReplayWindow } from './replay-window.tsx'
import { OUTCOMES } from './words.ts'

const OUTCOME_OPTIONS = (['recorded', 'ignored', 'hinted', 'held', 'parked'] as const).map(value => ({
  value,
  label: OUTCOMES[value].label,
}))
const FILTERS = defineFilters(choice('outcome', 'Outcome', OUTCOME_OPTIONS), param('replay_id'))

/** Every event of the connection with its outcome, and the replays. */
export function Inbox({ connection }: { connection: Connection }) {
  const { project_id, connection_id } = connection
  const { may } = useSession()
  const [isReplaying, { open, close }] = useDisclosure()
  const [values] = useFilters(FILTERS.params)
  const list = useList(inboxList, { connection_id, ...values })
  const filters = useListFilters(FILTERS, {
    more: <ReplayFilter />,
    end: (
      <>
        <Button variant="default" onClick={list.retry}>
          Read again
        </Button>
        {may('manage', project_id) && (
          <Button variant="default" onClick={open}>
            Replay a window…
          </Button>
        )}
      </>
    ),
  })
  return (
    <FilteredList
      label="Events"
      filters={filters}
      list={list}
      columns={COLUMNS}
      opens={({ event_id }) =>
        `/p/${project_id}/connections/${connection_id}?${new URLSearchParams({ tab: 'inbox', ...values, event: event_id })}`
      }
      nothingFits="No event fits these filters."
      empty="No event has arrived yet."
      next={
        <ProjectLink page="connections" id={connection_id} search={{ tab: 'setup' }}>
          See the steps at the provider
        </ProjectLink>
      }
    >
      <ReplayProgress connection={connection} />
      <Modal opened={isReplaying} onClose={close} title="Replay the events of a window">
        <ReplayWindow connection={connection} outcome={values.outcome} onClose={close} />
      </Modal>
    </FilteredList>
  )
}

/** Removes the filter by one replay, which only links set. */
function ReplayFilter() {
  const [{ replay_id }, change] = useFilters(FILTERS.params)
  if (replay_id === undefined) return null
  return (
    <Button variant="default" onClick={() => change({ replay_id: undefined })}>
      Of one replay ✕
    </Button>
  )
}

const COLUMNS: readonly Column<InboxEntry>[] = [
  textColumn('Event', '260px', ({ event_type }) => event_type, { tone: 'mono', card: 'title' }),
  { title: 'Outcome', width: '140px', card: 'line', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  textColumn('Why', 'minmax(0, 1fr)', ({ reason }) => reason, { tone: 'dim', card: 'line' }),
  timeColumn('Received', '130px', ({ received_at }) => received_at),
]

const TONES = { parked: 'alarm', held: 'waits', recorded: 'quiet', ignored: 'quiet', hinted: 'quiet' } as const

export function OutcomeBadge({ outcome }: { outcome: InboxEntry['outcome'] }) {
  return <Badge tone={TONES[outcome]}>{OUTCOMES[outcome].label}</Badge>
}
