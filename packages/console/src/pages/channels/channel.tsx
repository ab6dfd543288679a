import { type AlertChannel, ApiProblem } from '@backstop/client'
import { Button, Group, Modal, Skeleton, Stack, Tabs } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import * as z from 'zod/mini'
import { channelQuery, storeChannel } from '../../api/channels.ts'
import { api, queryClient, refresh, useWrite } from '../../api/client.ts'
import { useFilters } from '../../parts/filters/index.ts'
import { ConfirmButton } from '../../parts/form/index.ts'
import { PageHead, Problem, ThingPage, useProjectId, useResourceId } from '../../parts/page/index.ts'
import { Badge, CopyId } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './channel.module.css'
import { ChannelTest } from './channel-test.tsx'
import { ChannelBadge, HealthSentences } from './health.tsx'
import { nameKind } from './words.ts'

// Each tab is loaded when it is opened, so that the page is small.
const ChannelSettings = lazy(async () => ({ default: (await import('./channel-settings.tsx')).ChannelSettings }))
const DeliveryList = lazy(async () => ({ default: (await import('../deliveries/delivery-list.tsx')).DeliveryList }))
const Replays = lazy(async () => ({ default: (await import('../deliveries/replays.tsx')).Replays }))

const ABOVE = ['channels', 'Channels'] as const
const TABS = [
  { value: 'message', label: 'Message and settings' },
  { value: 'deliveries', label: 'Deliveries' },
  { value: 'replays', label: 'Replays' },
] as const
const FILTERS = { tab: z.enum(TABS.map(({ value }) => value)) }

export function Page() {
  const id = useResourceId()
  const query = useQuery(channelQuery(id))
  // It is read again after each live event of it, so its deletion elsewhere shows at once.
  const isDeleted = query.error instanceof ApiProblem && query.error.status === 404
  const loading = (
    <>
      <Skeleton height={20} width="40%" />
      <Skeleton height={400} mt="lg" />
    </>
  )
  return (
    <ThingPage kind="Channel" above={ABOVE} query={query} loading={loading}>
      {channel =>
        isDeleted ? (
          <PageHead title={channel.name} above={ABOVE}>
            <Badge tone="quiet">Deleted</Badge>
            <p>It sends nothing more. Its deliveries stay in the list of all deliveries.</p>
          </PageHead>
        ) : (
          <ChannelPage key={id} channel={channel} />
        )
      }
    </ThingPage>
  )
}

function ChannelPage({ channel }: { channel: AlertChannel }) {
  const [{ tab = 'message' }, setFilters] = useFilters(FILTERS)
  const mayChange = useSession().may('manage', useProjectId())
  const [isTestOpen, test] = useDisclosure()
  return (
    <>
      <PageHead
        title={channel.name}
        above={ABOVE}
        actions={mayChange && <Actions channel={channel} onTest={test.open} />}
      >
        <Stack className="dim" gap="sm" pt={4} maw={760}>
          <Group gap={12}>
            <ChannelBadge channel={channel} />
            <span>{nameKind(channel.config.kind)}</span>
            <CopyId id={channel.channel_id} />
          </Group>
          <HealthSentences channel={channel} />
        </Stack>
      </PageHead>
      {isTestOpen && <ChannelTest channelId={channel.channel_id} onClose={test.close} />}
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
        {tab === 'deliveries' && <DeliveryList channelId={channel.channel_id} />}
        {tab === 'replays' && <Replays channelId={channel.channel_id} />}
      </Suspense>
    </>
  )
}

function Actions({ channel, onTest }: { channel: AlertChannel; onTest: () => void }) {
  const navigate = useNavigate()
  const { channel_id, project_id: project, name } = channel
  const remove = async () => {
    await api.alertChannels.delete(channel_id)
    await navigate({ to: '/p/$project/channels', params: { project } })
    queryClient.removeQueries({ queryKey: channelQuery(channel_id).queryKey })
    await refresh(['channels', 'list'])
  }
  return (
    <>
      <ConfirmButton
        question={`Delete the channel “${name}”?`}
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

/** Switches a channel on or off. The same button undoes it, so the page shows the new state at once. */
function EnableSwitch({ channel: { channel_id, name, enabled, health } }: { channel: AlertChannel }) {
  const { queryKey } = channelQuery(channel_id)
  const { isPending, error, variables, mutate, reset } = useWrite(
    (enabled: boolean) => {
      queryClient.setQueryData(queryKey, old => old && { ...old, enabled })
      return api.alertChannels.change(channel_id, { enabled })
    },
    { onDone: storeChannel, onError: () => refresh(queryKey) },
  )
  return (
    <>
      <Button variant="default" disabled={isPending} onClick={() => mutate(!enabled)}>
        {enabled ? 'Switch off' : health.state === 'disabled' ? 'Enable again' : 'Switch on'}
      </Button>
      <Modal
        opened={error !== null}
        onClose={reset}
        title={`“${name}” was not switched ${variables === true ? 'on' : 'off'}`}
      >
        <Problem error={error} what="Nothing was changed" />
      </Modal>
    </>
  )
}
