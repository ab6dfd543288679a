import type { Connection } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client.ts'
import { connectionQuery, lastEventQuery } from '../../../api/connections.ts'
import { useShownOnce } from '../shown-once.ts'
import { readingText } from '../words.ts'

export interface Progress {
  readonly id: 'endpoint' | 'secret' | 'event' | 'reading' | 'verdict' | 'report'
  readonly text: string
  readonly detail: string
  readonly isDone: boolean
}

const POLL_MS = 2_000

/** Whether a refund or cancellation of the connection has its verdict. */
function firstVerdictQuery(connection_id: string) {
  return queryOptions({
    queryKey: ['actions', 'first-verdict', connection_id],
    async queryFn({ signal }) {
      const { data } = await api.actions.list({ connection_id, limit: 50 }, { signal })
      return { isSeen: data.length > 0, isJudged: data.some(({ verdict }) => verdict !== 'pending') }
    },
  })
}

/** Whether the customer's software has reported an operation of the connection. */
function firstReportQuery(project_id: string, connection_id: string) {
  return queryOptions({
    queryKey: ['operations', 'first-report', connection_id],
    async queryFn({ signal }) {
      return (await api.operations.list({ project_id, connection_id, limit: 1 }, { signal })).data.length > 0
    },
  })
}

/** The parts of a working connection. Each is read again every two seconds until it is done. */
export function useSetupProgress(connection: Connection): readonly Progress[] {
  const { project_id, connection_id, kind, secret_fingerprints, reading } = connection
  const shownOnce = useShownOnce(connection_id)
  const { data: lastEvent = null } = useQuery({
    ...lastEventQuery(connection_id),
    refetchInterval: ({ state }) => (state.data == null ? POLL_MS : false),
  })
  const { data: verdict } = useQuery({
    ...firstVerdictQuery(connection_id),
    refetchInterval: ({ state }) => (state.data?.isJudged === true ? false : POLL_MS),
  })
  const { data: hasReport = false } = useQuery({
    ...firstReportQuery(project_id, connection_id),
    refetchInterval: ({ state }) => (state.data === true ? false : POLL_MS),
  })
  useQuery({
    ...connectionQuery(project_id, connection_id),
    refetchInterval: ({ state }) => (state.data?.reading.state === 'pending' ? POLL_MS : false),
  })
  const hasEvent = lastEvent !== null
  // A processor makes its own secret. The one that was made with the endpoint counts as soon as an event is authentic by it.
  const hasSecret =
    kind !== 'processor' || hasEvent || secret_fingerprints.length > 1 || isOther(shownOnce, secret_fingerprints)
  return [
    { id: 'endpoint', text: 'Endpoint made', detail: 'Backstop accepts events at the URL below.', isDone: true },
    {
      id: 'secret',
      text: 'Secret stored',
      detail: hasSecret ? 'Events are checked with it.' : 'Copy the signing secret of the provider, step 4 below.',
      isDone: hasSecret,
    },
    {
      id: 'event',
      text: 'First event authentic',
      detail: hasEvent ? 'An event arrived, and its signature or password is right.' : 'Waits for the first event.',
      isDone: hasEvent,
    },
    {
      id: 'reading',
      text: 'Provider readable',
      detail: reading.error ?? `${readingText(connection)}.`,
      isDone: reading.state === 'healthy',
    },
    {
      id: 'verdict',
      text: 'First verdict',
      detail: verdictText(verdict),
      isDone: verdict?.isJudged === true,
    },
    {
      id: 'report',
      text: 'Your software reports',
      detail: hasReport
        ? 'It reported an operation: what it makes is explained.'
        : 'Waits for its first report. Until then each of its refunds looks like one that nobody announced.',
      isDone: hasReport,
    },
  ]
}

function isOther(shownOnce: { secret_fingerprints: string[] } | null, now: readonly string[]): boolean {
  return shownOnce !== null && now.some(fingerprint => !shownOnce.secret_fingerprints.includes(fingerprint))
}

function verdictText(verdict: { isSeen: boolean; isJudged: boolean } | undefined): string {
  if (verdict?.isJudged === true) return 'Backstop has judged a refund or cancellation.'
  if (verdict?.isSeen === true) return 'One was seen. Its second look comes a minute after it.'
  return 'Waits for the first refund or cancellation.'
}
