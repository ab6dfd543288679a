import type { Connection, InboxReplay } from '@backstop/client'
import { Group, Progress } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { inboxReplaysQuery } from '../../api/connections.ts'
import { readAgain } from '../../api/list-cache.ts'
import { Problem, ProjectLink } from '../../parts/page/index.ts'
import { Time, useNow } from '../../parts/show/index.ts'
import classes from './connections.module.css'

/** A replay that has just ended is shown with its result for as long. */
const JUST_DONE_MS = 10 * 60_000

/** The replays of the connection: those that run or have just ended with their progress, older ones behind a disclosure. */
export function ReplayProgress({ connection }: { connection: Connection }) {
  const queryClient = useQueryClient()
  const { data, error, refetch } = useQuery(inboxReplaysQuery(connection.connection_id))
  const now = useNow()
  const isShown = ({ finished_at }: InboxReplay) => finished_at === null || now - Date.parse(finished_at) < JUST_DONE_MS
  const running = data?.data.filter(isShown) ?? []
  const done = data?.data.filter(replay => !isShown(replay)) ?? []
  const open = data?.data.filter(({ state }) => state !== 'done').length ?? 0
  const former = useRef(0)
  useEffect(() => {
    if (former.current > open) readAgain(queryClient, { queryKey: ['inbox'] })
    former.current = open
  }, [open, queryClient])
  if (error !== null) return <Problem error={error} retry={() => void refetch()} what="The replays could not be read" />
  if (running.length === 0 && done.length === 0) return null
  return (
    <div className={classes.body}>
      {running.map(replay => (
        <section key={replay.replay_id} aria-label="Replay">
          <ReplayLine replay={replay} />
          <Progress
            aria-label="Progress of the replay"
            value={replay.total === null ? 0 : replay.total === 0 ? 100 : (replay.replayed / replay.total) * 100}
          />
        </section>
      ))}
      {done.length > 0 && (
        <details>
          <summary className="dim">
            {done.length === 1 ? 'One earlier replay' : `${done.length} earlier replays`}
          </summary>
          <ul className="lines">
            {done.map(replay => (
              <li key={replay.replay_id}>
                <ReplayLine replay={replay} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function ReplayLine({ replay }: { replay: InboxReplay }) {
  const { replay_id, connection_id, requested_at } = replay
  return (
    <Group justify="space-between" align="baseline" gap="4px 16px">
      <span role="status">
        {textOf(replay)}{' '}
        <ProjectLink page="connections" id={connection_id} search={{ tab: 'inbox', replay_id }}>
          Show its events
        </ProjectLink>
      </span>
      <span className="faint">
        <Time at={requested_at} />
      </span>
    </Group>
  )
}

function textOf({ state, total, replayed, skipped }: InboxReplay): string {
  const left = skipped.body_erased + skipped.not_a_notification
  const leftOut = left === 0 ? '' : ` ${left} left out, because their body is not kept or they are no notification.`
  switch (state) {
    case 'requested':
      return 'The replay begins in a moment.'
    case 'running':
      return `Replaying: ${replayed} of ${total ?? '…'} events.${leftOut}`
    case 'done':
      return `Replayed ${replayed} of ${total ?? replayed} events.${leftOut}`
    default:
      return state satisfies never
  }
}
