import { createParser, type ReceivedEvent } from './event-parser.ts'

export interface EventClient {
  /** Everything received so far. */
  readonly received: readonly ReceivedEvent[]
  /** The events without heartbeats. */
  events(): ReceivedEvent[]
  /** The id to resume after. */
  lastId(): string | undefined
  /** Resolves when the server ended the stream, or the client was killed. */
  readonly ended: Promise<void>
  kill(): void
}

/** Opens a stream of events. @throws if the answer is not a stream */
export async function openEvents(
  url: string,
  key: string,
  options: { projectId?: string; after?: string | undefined } = {},
): Promise<EventClient> {
  const killing = new AbortController()
  const query = options.projectId === undefined ? '' : `?project_id=${options.projectId}`
  const response = await fetch(`${url}/v1/live${query}`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(options.after === undefined ? {} : { 'last-event-id': options.after }),
    },
    signal: killing.signal,
  })
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
  const received: ReceivedEvent[] = []
  const parse = createParser(event => void received.push(event))
  const { body } = response
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of body) parse(decoder.decode(chunk, { stream: true }))
  })().catch(() => {})
  return {
    received,
    ended,
    events: () => received.filter(({ type }) => type !== 'heartbeat'),
    lastId: () => received.at(-1)?.id ?? options.after,
    kill: () => killing.abort(),
  }
}
