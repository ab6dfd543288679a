import type { AlertChannel } from '@backstop/client'
import { Button, Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import * as z from 'zod/mini'
import { channelQuery } from '../../api/channels.ts'
import { api, queryClient } from '../../api/client.ts'
import { Badge } from '../../parts/badges.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { isMissing } from '../../parts/is-missing.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { UnreadPage } from '../../parts/unread-page.tsx'
import { useFilters } from '../../parts/use-filters.ts'
import { useProjectId, useResourceId } from '../../parts/use-route.ts'
import { useSession } from '../../session/session.ts'
import classes from './channel.module.css'
import { ChannelTest } from './channel-test.tsx'
import { EnableSwitch } from './enable-switch.tsx'
import { ChannelBadge, HealthSentences } from './health.tsx'
import { nameKind } from './words.ts'

// Each tab is loaded when it is opened, so that the page is small.
const ChannelSettings = lazy(async () => ({ default: (await import('./channel-settings.tsx')).ChannelSettings }))
const DeliveryList = lazy(async () => ({ default: (await import('./delivery-list.tsx')).DeliveryList }))
const Replays = lazy(async () => ({ default: (await import('./replays.tsx')).Replays }))

const TABS = [
  { value: 'message', label: 'Message and settings' },
  { value: 'deliveries', label: 'Deliveries' },
  { value: 'replays', label: 'Replays' },
] as const
const FILTERS = { tab: z.enum(TABS.map(({ value }) => value)) }

export function Page() {
  const id = useResourceId()
  const { data: channel, error, refetch } = useQuery(channelQuery(id))
  // It is read again after each live event of it, so its deletion elsewhere shows at once.
  if (channel !== undefined && isMissing(error)) return <DeletedChannel name={channel.name} />
  if (channel !== undefined) return <ChannelPage key={id} channel={channel} />
  return (
    <UnreadPage title="Channel" above={<ChannelsLink />} error={error} retry={() => void refetch()}>
      <Skeleton height={20} width="40%" />
      <Skeleton height={400} mt="lg" />
    </UnreadPage>
  )
}

function DeletedChannel({ name }: { name: string }) {
  return (
    <PageHead title={name} above={<ChannelsLink />}>
      <Badge tone="quiet">Deleted</Badge>
      <p>It sends nothing more. Its deliveries stay in the list of all deliveries.</p>
    </PageHead>
  )
}

function ChannelsLink() {
  return (
    <Link to="/p/$project/channels" params={{ project: useProjectId() }}>
      Channels
    </Link>
  )
}

function ChannelPage({ channel }: { channel: AlertChannel }) {
  const projectId = useProjectId()
  const [{ tab = 'message' }, setFilters] = useFilters(FILTERS)
  const { may } = useSession()
  const mayChange = may('manage', projectId)
  const [isTestOpen, setIsTestOpen] = useState(false)
  return (
    <>
      <PageHead
        title={channel.name}
        above={<ChannelsLink />}
        actions={mayChange && <Actions channel={channel} onTest={() => setIsTestOpen(true)} />}
      >
        <div className={classes.state}>
          <div className={classes.buttons}>
            <ChannelBadge channel={channel} />
            <span>{nameKind(channel.config.kind)}</span>
            <CopyId id={channel.channel_id} />
          </div>
          <HealthSentences channel={channel} />
        </div>
      </PageHead>
      {isTestOpen && <ChannelTest channelId={channel.channel_id} onClose={() => setIsTestOpen(false)} />}
      <Tabs
        className={classes.tabs}
        value={tab}
        onChange={value => setFilters({ tab: value === 'message' ? undefined : (value as typeof tab) })}
      >
        <Tabs.List>
          {TABS.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <Suspense>
        {tab === 'message' && <ChannelSettings channel={channel} mayChange={mayChange} />}
        {tab === 'deliveries' && <DeliveryList projectId={projectId} channelId={channel.channel_id} />}
        {tab === 'replays' && <Replays projectId={projectId} channelId={channel.channel_id} />}
      </Suspense>
    </>
  )
}

function Actions({ channel, onTest }: { channel: AlertChannel; onTest: () => void }) {
  const navigate = useNavigate()
  const remove = async () => {
    await api.alertChannels.delete(channel.channel_id)
    await navigate({ to: '/p/$project/channels', params: { project: channel.project_id } })
    queryClient.removeQueries({ queryKey: ['channels', 'one', channel.channel_id] })
    await queryClient.invalidateQueries({ queryKey: ['channels', 'list'] })
  }
  return (
    <>
      <ConfirmButton
        question={`Delete the channel “${channel.name}”?`}
        consequence="It sends nothing more, and its secrets and addresses are erased. Its deliveries stay readable."
        onConfirm={remove}
      >
        Delete
      </ConfirmButton>
      <EnableSwitch channel={channel} />
      <Button variant="default" onClick={onTest}>
        Send a test
      </Button>
    </>
  )
}
