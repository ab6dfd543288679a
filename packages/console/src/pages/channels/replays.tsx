import type { Replay } from '@backstop/client'
import { Button, Progress, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { replayList, replayQuery } from '../../api/replays.ts'
import { Badge } from '../../parts/badges.tsx'
import { timeColumn } from '../../parts/columns.tsx'
import { type Column, DataList } from '../../parts/data-list.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import classes from './replays.module.css'

/** Replays of the deliveries that a channel missed, and the form for another one. */
export function Replays({ projectId, channelId }: { projectId: string; channelId: string }) {
  const { may } = useSession()
  const list = useList(replayList, { project_id: projectId, channel_id: channelId })
  return (
    <>
      {may('manage', projectId) && <NewReplay channelId={channelId} />}
      <DataList
        label="Replays"
        list={list}
        columns={COLUMNS}
        empty={<p>No replay yet. A replay sends the alerts again that did not arrive, for example after an outage.</p>}
      />
    </>
  )
}

function NewReplay({ channelId }: { channelId: string }) {
  const queryClient = useQueryClient()
  const [from, setFrom] = useState(() => toLocalInput(Date.now() - 86_400_000))
  const [to, setTo] = useState(() => toLocalInput(Date.now() + 60_000))
  const isWindow = Date.parse(from) < Date.parse(to)
  const create = useMutation({
    mutationFn: () =>
      api.replays.create({
        channel_id: channelId,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      }),
    onSuccess: replay => {
      queryClient.setQueryData(replayQuery(replay.replay_id).queryKey, replay)
      return queryClient.invalidateQueries({ queryKey: ['replays', 'list'] })
    },
  })
  return (
    <div className={classes.form}>
      <p className="dim">
        Sends every alert again that was created in this window and is dead or retrying. An alert that arrived is never
        sent twice.
      </p>
      <div className={classes.fields}>
        <TextInput
          label="From"
          type="datetime-local"
          value={from}
          onChange={event => setFrom(event.currentTarget.value)}
        />
        <TextInput
          label="To"
          type="datetime-local"
          value={to}
          error={isWindow ? undefined : 'Give a time after the start'}
          onChange={event => setTo(event.currentTarget.value)}
        />
        <Button size="sm" disabled={!isWindow} loading={create.isPending} onClick={() => create.mutate()}>
          Replay missed alerts
        </Button>
      </div>
      {create.error !== null && <Problem error={create.error} what="The replay was not started" />}
    </div>
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
    <span className={classes.progress}>
      <Badge tone="waits">{`${requeued} of ${total ?? '…'} sent again`}</Badge>
      <Progress className={classes.bar} size="sm" value={percent} aria-label="Progress of the replay" />
    </span>
  )
}

/** A time as `datetime-local` shows it, in the zone of the reader. */
function toLocalInput(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000
  return new Date(atMs - offsetMs).toISOString().slice(0, 16)
}
