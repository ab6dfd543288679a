import type { Connection } from '@backstop/client'
import { Button, Group, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, useWrite } from '../../api/client.ts'
import { type InboxEntry, inboxEntryQuery, inboxReplaysQuery } from '../../api/connections.ts'
import { Problem, ProjectLink, Read } from '../../parts/page/index.ts'
import { Facts, idFact, LongText, timeFact } from '../../parts/show/index.ts'
import { useSession } from '../../session/session.ts'
import classes from './connections.module.css'
import { OutcomeBadge } from './inbox.tsx'

const WAIT_MS = 1_000

/** One event: its outcome, why, what it led to, its body as the provider sent it, and its replay. */
export function InboxEvent({ connection, id }: { connection: Connection; id: string }) {
  const { project_id, connection_id } = connection
  const { may } = useSession()
  const replay = useWrite(() => api.inbox.replayEntry(connection_id, id), {
    refresh: [inboxReplaysQuery(connection_id).queryKey],
  })
  const isWaiting = (replayId: string | null | undefined) =>
    replay.data !== undefined && replayId !== replay.data.replay_id
  const query = useQuery({
    ...inboxEntryQuery(connection_id, id),
    refetchInterval: ({ state }) => (isWaiting(state.data?.replay_id) ? WAIT_MS : false),
  })
  return (
    <div className={classes.body}>
      <p>
        <Link to="." search={((old: object) => ({ ...old, event: undefined })) as never}>
          ← All events
        </Link>
      </p>
      <Read query={query} what="The event could not be read" loading={<Skeleton height={200} />}>
        {event => (
          <>
            <section>
              <h2 className="mono" dir="auto">
                {event.event_type}
              </h2>
              <EventFacts event={event} />
              {may('manage', project_id) && event.body !== null && (
                <ReplayButton replay={replay} isWaiting={isWaiting(event.replay_id)} />
              )}
            </section>
            <section>
              <h2>Body as the provider sent it</h2>
              {event.body === null ? (
                <p className="dim">The body is not kept any more. Bodies are kept for 14 days.</p>
              ) : (
                <LongText text={typeof event.body === 'string' ? event.body : JSON.stringify(event.body, null, 2)} />
              )}
            </section>
          </>
        )}
      </Read>
    </div>
  )
}

function EventFacts({ event }: { event: InboxEntry }) {
  const actions = event.action_ids.map(id => (
    <div key={id}>
      <ProjectLink className="link mono" page="actions" id={id}>
        {id}
      </ProjectLink>
    </div>
  ))
  return (
    <Facts
      facts={[
        ['Outcome', <OutcomeBadge key="outcome" outcome={event.outcome} />],
        ['Why', event.reason],
        ['Event', idFact(event.event_id)],
        ['Received', timeFact(event.received_at)],
        ['Decided', timeFact(event.processed_at)],
        ['Led to', actions.length === 0 ? 'No refund or cancellation of its own' : actions],
      ]}
    />
  )
}

interface ReplayButtonProps {
  replay: { isPending: boolean; isSuccess: boolean; error: Error | null; mutate(): void }
  isWaiting: boolean
}

function ReplayButton({ replay, isWaiting }: ReplayButtonProps) {
  return (
    <Group gap="8px 12px">
      <Button variant="default" loading={replay.isPending || isWaiting} onClick={() => replay.mutate()}>
        Replay this event
      </Button>
      <span role="status" className="dim">
        {isWaiting && 'It is being decided again…'}
        {replay.isSuccess && !isWaiting && 'It was decided again.'}
      </span>
      <Problem error={replay.error} what="The event was not replayed" />
    </Group>
  )
}
