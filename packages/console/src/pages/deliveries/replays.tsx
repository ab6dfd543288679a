import type { Replay } from '@backstop/client'
import { Button, Group, Progress, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { replayList, replayQuery } from '../../api/channels.ts'
import { api, queryClient, useWrite } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { localMinute } from '../../format/times.ts'
import { useFields } from '../../parts/form/index.ts'
import { type Column, DataList, timeColumn } from '../../parts/list/index.ts'
import { Problem, useProjectId } from '../../parts/page/index.ts'
import { Badge, Time } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'

/** Replays of the deliveries that a channel missed, and the form for another one. */
export function Replays({ channelId }: { channelId: string }) {
  const project_id = useProjectId()
  const { may } = useSession()
  return (
    <>
      {may('manage', project_id) && <NewReplay channelId={channelId} />}
      <DataList
        label="Replays"
        list={useList(replayList, { project_id, channel_id: channelId })}
        columns={COLUMNS}
        empty="No replay yet. A replay sends the alerts again that did not arrive, for example after an outage."
      />
    </>
  )
}

const DAY_MS = 86_400_000

function NewReplay({ channelId }: { channelId: string }) {
  const { fields, field } = useFields(() => ({
    from: localMinute(Date.now() - DAY_MS),
    to: localMinute(Date.now() + 60_000),
  }))
  const { from, to } = fields
  const isWindow = Date.parse(from) < Date.parse(to)
  const create = useWrite(
    () => {
      const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
      return api.replays.create({ channel_id: channelId, ...window })
    },
    {
      refresh: [['replays', 'list']],
      onDone: replay => void queryClient.setQueryData(replayQuery(replay.replay_id).queryKey, replay),
    },
  )
  return (
    <Stack className="body" gap={12} maw={760}>
      <p className="dim">
        Sends every alert again that was created in this window and did not arrive. An alert that arrived is never sent
        twice.
      </p>
      <Group gap={12} align="flex-end">
        <TextInput label="From" type="datetime-local" {...field('from')} />
        <TextInput
          label="To"
          type="datetime-local"
          error={isWindow ? undefined : 'Give a time after the start'}
          {...field('to')}
        />
        <Button size="sm" disabled={!isWindow} loading={create.isPending} onClick={() => create.mutate()}>
          Replay missed alerts
        </Button>
      </Group>
      <Problem error={create.error} what="The replay was not started" />
    </Stack>
  )
}

const COLUMNS: readonly Column<Replay>[] = [
  { title: 'Progress', width: 'minmax(0, 1fr)', card: 'title', cell: replay => <ReplayProgress replay={replay} /> },
  {
    title: 'Window',
    width: 'minmax(0, 1fr)',
    card: 'line',
    cell: ({ from, to }) => (
      <span className="dim">
        <Time at={from} /> – <Time at={to} />
      </span>
    ),
  },
  timeColumn('Requested', '120px', ({ requested_at }) => requested_at),
]

/** How far a replay is. It is read again each second until it is done. */
function ReplayProgress({ replay: first }: { replay: Replay }) {
  const { data: replay = first } = useQuery({ ...replayQuery(first.replay_id), initialData: first })
  const { state, total, requeued } = replay
  if (state === 'requested') return <Badge tone="waits">Waits to start</Badge>
  if (state === 'done')
    return <Badge tone="good">{total === 0 ? 'Done: nothing was missed' : `Done: ${requeued} sent again`}</Badge>
  const percent = total === null || total === 0 ? 0 : (requeued / total) * 100
  return (
    <Group component="span" gap={12} w="100%" wrap="nowrap">
      <Badge tone="waits">{`${requeued} of ${total ?? '…'} sent again`}</Badge>
      <Progress flex={1} maw={160} size="sm" value={percent} aria-label="Progress of the replay" />
    </Group>
  )
}
