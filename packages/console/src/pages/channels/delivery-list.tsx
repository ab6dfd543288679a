import type { Delivery } from '@backstop/client'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import * as z from 'zod/mini'
import { useAllChannels } from '../../api/channels.ts'
import { deliveryList } from '../../api/deliveries.ts'
import { useList } from '../../api/list.ts'
import { localizeTimes } from '../../format/times.ts'
import { Badge, StateBadge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { ChoiceFilter, FilterBar, optionsOf } from '../../parts/filter-bar.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useSession } from '../../session/session.ts'
import { RetryButton } from './retry-button.tsx'
import { DELIVERY_STATES, EVENTS, nameEvent, nameKind } from './words.ts'

const PERIODS = [
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
] as const
const PERIOD_MS = { '1h': 3_600_000, '1d': 86_400_000, '7d': 604_800_000 }
const TEST_CHOICES = [
  { value: 'false', label: 'Alerts' },
  { value: 'true', label: 'Tests' },
] as const
const FILTERS = {
  state: z.enum(DELIVERY_STATES.map(({ value }) => value)),
  test: z.enum(['true', 'false']),
  period: z.enum(['1h', '1d', '7d']),
  channel_id: z.string(),
  alert_id: z.string(),
  incident_id: z.string(),
  event: z.enum(EVENTS.map(({ value }) => value)),
}

/** The deliveries of a project, or of one of its channels. */
export function DeliveryList({ projectId, channelId }: { projectId: string; channelId?: string }) {
  const [filters, , bind] = useFilters(FILTERS)
  const { period, ...equal } = filters
  // While the list is shown it keeps its query, and so its place.
  const from = useMemo(() => (period === undefined ? undefined : startOf(period)), [period])
  const list = useList(deliveryList, {
    project_id: projectId,
    ...equal,
    ...(channelId === undefined ? {} : { channel_id: channelId }),
    ...(from === undefined ? {} : { from }),
  })
  const channels = useAllChannels(projectId)
  const names = new Map(channels.map(({ channel_id, name }) => [channel_id, name]))
  const mayRetry = useSession().may('manage', projectId)
  return (
    <>
      <FilterBar>
        <ChoiceFilter label="State" options={DELIVERY_STATES} {...bind('state')} />
        {channelId === undefined && <ChoiceFilter label="Channel" options={optionsOf(names)} {...bind('channel_id')} />}
        <ChoiceFilter label="Message" options={EVENTS} {...bind('event')} />
        <ChoiceFilter label="Show" options={TEST_CHOICES} {...bind('test')} />
        <ChoiceFilter label="Period" options={PERIODS} {...bind('period')} />
      </FilterBar>
      <DataList
        label="Deliveries"
        list={list}
        columns={columnsWith(names, channelId === undefined, mayRetry)}
        hrefOf={({ delivery_id }) => `/p/${projectId}/deliveries/${delivery_id}`}
        empty={<Empty isFiltered={Object.keys(filters).length > 0} projectId={projectId} />}
      />
    </>
  )
}

/** Rounded to a minute, so that the list keeps its query while it is shown again. */
function startOf(period: keyof typeof PERIOD_MS): string {
  const MINUTE_MS = 60_000
  return new Date(Math.floor((Date.now() - PERIOD_MS[period]) / MINUTE_MS) * MINUTE_MS).toISOString()
}

function columnsWith(
  names: ReadonlyMap<string, string>,
  hasChannel: boolean,
  mayRetry: boolean,
): readonly Column<Delivery>[] {
  const channel: Column<Delivery> = {
    title: 'Channel',
    width: 'minmax(0, 1.4fr)',
    card: 'title',
    cell: ({ channel_id, channel_kind }) => (
      <span dir="auto">{names.get(channel_id) ?? `${nameKind(channel_kind)} (deleted)`}</span>
    ),
  }
  return [
    { title: 'State', width: '128px', card: 'line', cell: delivery => <DeliveryBadge delivery={delivery} /> },
    ...(hasChannel ? [channel] : []),
    {
      title: 'Message',
      width: '184px',
      card: hasChannel ? 'line' : 'title',
      cell: ({ event }) => nameEvent(event),
    },
    {
      title: 'What happened last',
      width: 'minmax(0, 1.2fr)',
      cell: ({ reason }) => (
        <span className="dim" dir="auto" title={localizeTimes(reason)}>
          {localizeTimes(reason)}
        </span>
      ),
    },
    { title: 'Attempts', width: '72px', align: 'end', cell: ({ attempts }) => attempts.length },
    timeColumn('Created', '112px', ({ created_at }) => created_at),
    ...(mayRetry
      ? [
          {
            title: '',
            width: '84px',
            align: 'end',
            card: 'line',
            cell: (delivery: Delivery) => <RetryButton delivery={delivery} />,
          } as const,
        ]
      : []),
  ]
}

/** The state of a delivery; a held one says so. */
export function DeliveryBadge({ delivery: { state, held_until } }: { delivery: Delivery }) {
  return held_until === null ? <StateBadge state={state} /> : <Badge tone="waits">Held</Badge>
}

function Empty({ isFiltered, projectId }: { isFiltered: boolean; projectId: string }) {
  if (isFiltered) return <p>No delivery fits these filters.</p>
  return (
    <>
      <p>No delivery yet. Each alert that a channel gets appears here, with the answer of its receiver.</p>
      <p>
        <Link to="/p/$project/channels" params={{ project: projectId }}>
          See the channels
        </Link>
      </p>
    </>
  )
}
