import type { Connection } from '@backstop/client'
import { Button, Skeleton } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { inboxEntryQuery, inboxReplaysQuery } from '../../api/inbox.ts'
import { CopyId } from '../../parts/copy-id.tsx'
import { Facts } from '../../parts/facts.tsx'
import { LongText } from '../../parts/long-text.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { OutcomeBadge } from './inbox.tsx'

const WAIT_MS = 1_000

/** One event: its outcome, why, what it led to, its body as the provider sent it, and its replay. */
export function InboxEvent({ connection, id }: { connection: Connection; id: string }) {
  const { project_id, connection_id } = connection
  const query = inboxEntryQuery(connection_id, id)
  const replay = useReplay(connection_id, id)
  const isWaiting = (replayId: string | null | undefined) =>
    replay.data !== undefined && replayId !== replay.data.replay_id
  const { data, error, refetch } = useQuery({
    ...query,
    refetchInterval: ({ state }) => (isWaiting(state.data?.replay_id) ? WAIT_MS : false),
  })
  const back = (
    <p>
      <Link to="." search={((old: object) => ({ ...old, event: undefined })) as never}>
        ← All events
      </Link>
    </p>
  )
  if (data === undefined) {
    return (
      <div className={classes.body}>
        {back}
        {error === null ? (
          <Skeleton height={200} />
        ) : (
          <Problem error={error} retry={() => void refetch()} what="The event could not be read" />
        )}
      </div>
    )
  }
  return (
    <div className={classes.body}>
      {back}
      <section>
        <h2 className="mono" dir="auto">
          {data.event_type}
        </h2>
        <Facts
          facts={[
            ['Outcome', <OutcomeBadge key="outcome" outcome={data.outcome} />],
            ['Why', data.reason],
            ['Event', <CopyId key="id" id={data.event_id} length={32} />],
            ['Received', <Time key="received" at={data.received_at} />],
            ['Decided', <Time key="decided" at={data.processed_at} />],
            [
              'Led to',
              data.action_ids.length === 0 ? (
                'No refund or cancellation of its own'
              ) : (
                <Actions key="actions" project={project_id} ids={data.action_ids} />
              ),
            ],
          ]}
        />
        <ReplayButton
          projectId={project_id}
          replay={replay}
          isWaiting={isWaiting(data.replay_id)}
          hasBody={data.body !== null}
        />
      </section>
      <section>
        <h2>Body as the provider sent it</h2>
        {data.body === null ? (
          <p className="dim">The body is not kept any more. Bodies are kept for 14 days.</p>
        ) : (
          <LongText
            className={classes.raw}
            text={typeof data.body === 'string' ? data.body : JSON.stringify(data.body, null, 2)}
          />
        )}
      </section>
    </div>
  )
}

function Actions({ project, ids }: { project: string; ids: readonly string[] }) {
  return ids.map(id => (
    <div key={id}>
      <Link className="link mono" to="/p/$project/actions/$id" params={{ project, id }}>
        {id}
      </Link>
    </div>
  ))
}

function useReplay(connectionId: string, id: string) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: () => api.inbox.replayEntry(connectionId, id),
    onSuccess: () => void queryClient.invalidateQueries({ queryKey: inboxReplaysQuery(connectionId).queryKey }),
  })
}

interface ReplayButtonProps {
  projectId: string
  replay: ReturnType<typeof useReplay>
  isWaiting: boolean
  hasBody: boolean
}

function ReplayButton({ projectId, replay, isWaiting, hasBody }: ReplayButtonProps) {
  const { may } = useSession()
  if (!may('manage', projectId) || !hasBody) return null
  return (
    <div className={classes.row}>
      <Button variant="default" loading={replay.isPending || isWaiting} onClick={() => replay.mutate()}>
        Replay this event
      </Button>
      <span role="status" className="dim">
        {isWaiting && 'It is being decided again…'}
        {replay.isSuccess && !isWaiting && 'It was decided again.'}
      </span>
      {replay.error !== null && <Problem error={replay.error} what="The event was not replayed" />}
    </div>
  )
}
