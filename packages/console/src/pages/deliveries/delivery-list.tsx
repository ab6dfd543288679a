import type { Delivery } from '@backstop/client'
import { useMemo } from 'react'
import { deliveryList, useChannelNames } from '../../api/channels.ts'
import { useList } from '../../api/list.ts'
import { localizeTimes } from '../../format/times.ts'
import { choice, defineFilters, optionsOf, param, resourceChoice, useListFilters } from '../../parts/filters/index.ts'
import { type Column, FilteredList, textColumn, timeColumn } from '../../parts/list/index.ts'
import { PageHead, ProjectLink, useProjectId } from '../../parts/page/index.ts'
import { Badge, StateBadge } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import { DELIVERY_STATES, EVENTS, nameKind } from '../channels/words.ts'
import { RetryButton } from './retry-button.tsx'

const PERIODS = [
  { value: '1h', label: 'Last hour' },
  { value: '1d', label: 'Last day' },
  { value: '7d', label: 'Last 7 days' },
] as const
const MINUTE_MS = 60_000
const PERIOD_MS = { '1h': 60 * MINUTE_MS, '1d': 1_440 * MINUTE_MS, '7d': 10_080 * MINUTE_MS }
const TESTS = [
  { value: 'false', label: 'Alerts' },
  { value: 'true', label: 'Tests' },
] as const
const OTHERS = [
  choice('event', 'Message', EVENTS),
  choice('test', 'Show', TESTS),
  choice('period', 'Period', PERIODS),
  param('alert_id'),
  param('incident_id'),
  param('storm_id'),
] as const
const STATE = choice('state', 'State', DELIVERY_STATES)
const OF_CHANNEL = defineFilters(STATE, param('channel_id'), ...OTHERS)
const OF_PROJECT = defineFilters(
  STATE,
  resourceChoice('channel_id', 'Channel', () => optionsOf(useChannelNames(useProjectId()))),
  ...OTHERS,
)

/** All deliveries of a project. */
export function Page() {
  return (
    <>
      <PageHead title="Deliveries" above={['channels', 'Channels']} />
      <DeliveryList />
    </>
  )
}

/** The deliveries of the project, or of one of its channels. */
export function DeliveryList({ channelId }: { channelId?: string }) {
  const project_id = useProjectId()
  const filters = useListFilters(channelId === undefined ? OF_PROJECT : OF_CHANNEL)
  const { period, ...equal } = filters.values
  // While the list is shown it keeps its query, and so its place. To a minute, so that it also does when it is shown again.
  const from = useMemo(() => (period === undefined ? undefined : startOf(period)), [period])
  const list = useList(deliveryList, {
    project_id,
    ...equal,
    ...(channelId === undefined ? {} : { channel_id: channelId }),
    ...(from === undefined ? {} : { from }),
  })
  const names = useChannelNames(project_id)
  const mayRetry = useSession().may('manage', project_id)
  return (
    <FilteredList
      label="Deliveries"
      filters={filters}
      list={list}
      columns={columnsWith(names, channelId === undefined, mayRetry)}
      opens="deliveries"
      nothingFits="No delivery fits these filters."
      empty="No delivery yet. Each alert that a channel gets appears here, with the answer of its receiver."
      next={<ProjectLink page="channels">See the channels</ProjectLink>}
    />
  )
}

function startOf(period: keyof typeof PERIOD_MS): string {
  return new Date(Math.floor((Date.now() - PERIOD_MS[period]) / MINUTE_MS) * MINUTE_MS).toISOString()
}

function columnsWith(
  names: ReadonlyMap<string, string>,
  hasChannel: boolean,
  mayRetry: boolean,
): readonly Column<Delivery>[] {
  const nameChannel = ({ channel_id, channel_kind }: Delivery) =>
    names.get(channel_id) ?? `${nameKind(channel_kind)} (deleted)`
  const retry: Column<Delivery> = {
    title: '',
    width: '84px',
    align: 'end',
    card: 'line',
    cell: delivery => <RetryButton delivery={delivery} />,
  }
  return [
    { title: 'State', width: '128px', card: 'line', cell: delivery => <DeliveryBadge delivery={delivery} /> },
    ...(hasChannel ? [textColumn('Channel', 'minmax(0, 0.8fr)', nameChannel, { card: 'line' })] : []),
    textColumn('Message', 'minmax(0, 1.6fr)', ({ about }) => about.title, { card: 'title' }),
    textColumn('What happened last', 'minmax(0, 1fr)', ({ reason }) => localizeTimes(reason), { tone: 'dim' }),
    textColumn('Attempts', '72px', ({ attempts }) => String(attempts.length), { align: 'end' }),
    timeColumn('Created', '112px', ({ created_at }) => created_at),
    ...(mayRetry ? [retry] : []),
  ]
}

/** The state of a delivery; a held one says so. */
export function DeliveryBadge({ delivery: { state, held_until } }: { delivery: Delivery }) {
  return held_until === null ? <StateBadge state={state} /> : <Badge tone="waits">Held</Badge>
}
