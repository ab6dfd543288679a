import { ApiProblem, NoAnswer, readProblem } from './api-problem.ts'
import { createPagedList, type Page, type Query, type RequestOptions } from './call.ts'
import { type Api, CALLS } from './generated/api.ts'
import { newKey } from './new-key.ts'
import { pause, retryWait } from './retry.ts'

export interface ClientOptions {
  /** The address of the management API, e.g. `https://backstop.example.com`. */
  readonly baseUrl: string
  /** An API key (`bsk_…`). Without one, requests are sent with the cookies of the browser. */
  readonly key?: string
  /** Default: the global fetch. */
  readonly fetch?: typeof globalThis.fetch
  /** Milliseconds for a whole call, including retries. Default: 30,000. */
  readonly timeoutMs?: number
  /** How many times a call is repeated that failed for a reason that may pass. Default: 3. */
  readonly retries?: number
}

/** Input of `client.request`. */
export interface RawRequest extends RequestOptions {
  readonly body?: unknown
}

export interface Client extends Api {
  /**
   * Makes any call and returns the answer unread, for example for a list as CSV. The time limit ends when the answer begins.
   * @param path with its parameters filled in, e.g. `/v1/incidents`
   * @throws ApiProblem NoAnswer
   */
  request(method: string, path: string, request?: RawRequest): Promise<Response>
}

/** Creates a client of the management API. */
export function createClient(options: ClientOptions): Client {
  const requester = createRequester(options)
  const resources = Object.entries(CALLS).map(([resource, calls]) => [
    resource,
    Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, createMethod(call as Call, requester)])),
  ])
  const request: Client['request'] = (method, path, input) => requester(method, path, input, async response => response)
  return { ...(Object.fromEntries(resources) as Api), request }
}

type Call = readonly [
  method: string,
  path: string,
  input: 'none' | 'query' | 'body',
  answer: 'json' | 'page' | 'nothing' | 'stream',
]

/** Makes a request with retries, and reads its answer within the time limit. */
type Requester = <T>(
  method: string,
  path: string,
  input: RawRequest | undefined,
  read: (response: Response) => Promise<T>,
) => Promise<T>

const READ_ANSWER: Record<Call[3], (response: Response) => Promise<unknown>> = {
  json: response => response.json(),
  page: response => response.json(),
  nothing: async () => undefined,
  stream: async response => response,
}

/** Makes the method of a call. Its arguments are the path parameters, the query or body if the call has one, and the options. */
function createMethod([method, path, input, answer]: Call, requester: Requester) {
  const pathCount = path.split('{').length - 1
  return (...args: unknown[]) => {
    let at = 0
    const filledPath = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(args[at++])))
    const given = input === 'none' ? undefined : args[pathCount]
    const options = (args[pathCount + (input === 'none' ? 0 : 1)] ?? {}) as RequestOptions
    const read = async (more: Query = {}) => {
      const query = { ...(input === 'query' ? (given as Query) : {}), ...options.query, ...more }
      const body = input === 'body' ? { body: given ?? {} } : {}
      return requester<unknown>(method, filledPath, { ...options, query, ...body }, READ_ANSWER[answer])
    }
    if (answer !== 'page') return read()
    return createPagedList(cursor => read(cursor === undefined ? {} : { cursor }) as Promise<Page<unknown>>)
  }
}

function createRequester(options: ClientOptions): Requester {
  const { baseUrl, key, timeoutMs = 30_000, retries = 3, fetch = globalThis.fetch } = options
  const base = baseUrl.replace(/\/+$/, '')

  async function send<T>(url: string, init: RequestInit, read: (response: Response) => Promise<T>): Promise<T> {
    try {
      const response = await fetch(url, init)
      if (response.ok) return await read(response)
      throw await readProblem(response, Date.now())
    } catch (error) {
      throw error instanceof ApiProblem ? error : new NoAnswer(`No answer from ${base}`, { cause: error })
    }
  }

  return async (method, path, input = {}, read) => {
    const { body, query, signal, ifVersion, idempotencyKey, headers } = input
    const deadlineMs = Date.now() + (input.timeoutMs ?? timeoutMs)
    const sent = new Headers({ accept: 'application/json', ...headers })
    if (key !== undefined) sent.set('authorization', `Bearer ${key}`)
    if (body !== undefined) sent.set('content-type', 'application/json')
    if (ifVersion !== undefined) sent.set('if-match', `"${ifVersion}"`)
    if (method === 'POST') sent.set('idempotency-key', idempotencyKey ?? newKey())
    const url = `${base}${path}${queryString(query)}`
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    for (let attempt = 1; ; attempt++) {
      const limit = new AbortController()
      const timer = setTimeout(() => limit.abort(), deadlineMs - Date.now())
      const stop = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal])
      try {
        return await send(url, { method, headers: sent, signal: stop, ...content }, read)
      } catch (error) {
        signal?.throwIfAborted()
        const waitMs = attempt > retries ? undefined : retryWait(error, method, attempt, Math.random())
        if (waitMs === undefined || limit.signal.aborted || Date.now() + waitMs >= deadlineMs) throw error
        await pause(waitMs, signal)
      } finally {
        clearTimeout(timer)
      }
    }
  }
}

function queryString(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap(item => (item === undefined || item === null ? [] : [[name, String(item)]])),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}
