import { ApiProblem } from '../api-problem.ts'
import type { Client } from '../create-client.ts'
import type { AlertChannel, Api, Connection, Delivery, Incident } from '../generated/api.ts'
import { pause } from '../retry.ts'
import { createEventParser, type StreamEvent } from './stream-events.ts'

interface DataOfType {
  incident: Incident
  action: Awaited<ReturnType<Api['actions']['get']>>
  delivery: Delivery
  connection: Connection & { readonly deleted_at?: string }
  channel: AlertChannel & { readonly deleted_at?: string }
  /** Changes may be missing: load the resources again. */
  reset: { readonly reason: 'position_lost' }
}

/** A change, with the changed resource as it is now. */
export type LiveEvent = {
  readonly [Type in keyof DataOfType]: { readonly id: string; readonly type: Type; readonly data: DataOfType[Type] }
}[keyof DataOfType]

export interface LiveOptions {
  /** Only changes of this project. Default: every project of the key. */
  readonly projectId?: string | undefined
  /** The id of the last event of an earlier stream. Default: begin now. */
  readonly after?: string | undefined
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined
  /** Called when the stream broke, before it is resumed. */
  readonly onBreak?: (error: unknown) => void
}

const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** The stream has a heartbeat every 12 s. */
const SILENT_MS = 40_000

/**
 * Iterates over changes as they happen. A broken stream is resumed after its last event, so none is lost and none is repeated.
 * @throws ApiProblem NoAnswer if the stream cannot begin; later only ApiProblem, if it cannot be resumed because the key is refused
 */
export async function* liveEvents(client: Pick<Client, 'live'>, options: LiveOptions = {}): AsyncGenerator<LiveEvent> {
  const { projectId, signal, onBreak = () => {} } = options
  let lastId = options.after ?? ''
  let hasBegun = false
  for (let failures = 0; signal?.aborted !== true; failures++) {
    let problem: unknown = new Error('The server ended the stream')
    const ended = new AbortController()
    const stop = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal])
    try {
      const response = await client.live.streamEvents(projectId === undefined ? {} : { project_id: projectId }, {
        signal: stop,
        headers: { accept: 'text/event-stream', ...(lastId === '' ? {} : { 'last-event-id': lastId }) },
      })
      for await (const { id, type, data } of readBody(response.body, ended)) {
        hasBegun = true
        failures = 0
        lastId = id
        if (type !== '') yield { id, type, data: JSON.parse(data) } as LiveEvent
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!hasBegun || isFinal(error)) throw error
      problem = error
    } finally {
      ended.abort()
    }
    if (signal?.aborted) return
    onBreak(problem)
    const longestMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
    await pause(longestMs * (0.5 + Math.random() / 2), signal).catch(() => {})
  }
}

/** True if a later attempt would be refused too. 429: the server may not have noticed yet that the broken stream ended. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiProblem && error.status < 500 && error.status !== 429 && error.status !== 408
}

/** Reads the events of an answer, and aborts a stream that sends nothing, not even heartbeats. */
async function* readBody(body: ReadableStream<Uint8Array> | null, ended: AbortController): AsyncGenerator<StreamEvent> {
  // Some browsers cannot iterate over a stream.
  const reader = body?.getReader()
  const parse = createEventParser()
  for (;;) {
    const timer = setTimeout(() => ended.abort(), SILENT_MS)
    const chunk = await reader?.read().finally(() => clearTimeout(timer))
    if (chunk === undefined || chunk.done) return
    yield* parse(chunk.value)
  }
}
