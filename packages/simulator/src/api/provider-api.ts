/**
 * The common part of the providers' APIs, on loopback. The dialect of a provider defines its keys, the answers of its paths, and
 * the form of its errors.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Chance, createChance } from '../chance.ts'
import { listenOnLoopback } from '../listen-on-loopback.ts'
import { ApiRefusal } from './api-refusal.ts'
import { createRateGate, type RateLimit } from './rate-limit.ts'
import { createTroubles, type Trouble } from './trouble.ts'

export interface ProviderApiOptions {
  /** Keys that may only read. */
  readonly readKeys: readonly string[]
  /** Keys that may also write. */
  readonly writeKeys?: readonly string[]
  /** A free port by default. */
  readonly port?: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The rate limits. By default the limits of the real provider; an empty list means no limit. */
  readonly rateLimits?: readonly RateLimit[]
  /**
   * Milliseconds by which reads lag behind the account, so that the object of an event is missing or outdated for a while; 0 by
   * default.
   */
  readonly readLagMs?: number
  /** The source of request ids. */
  readonly chance?: Chance
}

export interface ProviderApi {
  /** The URL without a path, e.g. `http://127.0.0.1:40123`. */
  readonly url: string
  readonly port: number
  /** Method and path with query of every authenticated call so far, oldest first. */
  calls(): readonly string[]
  /** Sets the trouble of the next calls. It replaces an earlier trouble. */
  setTrouble(trouble: Trouble): void
  /** Sets the lag of reads in milliseconds. */
  lagReads(ms: number): void
  /** Sets the rate limits and resets the count. */
  limitRate(limits: readonly RateLimit[]): void
  stop(): Promise<void>
}

/** One call, as a dialect answers it. */
export interface ApiCall {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** The body as text; empty for a GET. */
  readonly body: string
  header(name: string): string | undefined
  readonly nowMs: number
  /** The time as of which objects are read. It is earlier than now while reads lag. */
  readonly readAtMs: number
  /** The URL of this API, for links in answers. */
  readonly baseUrl: string
  readonly requestId: string
  /** The caller's key. */
  readonly key: string
}

/** The differences of one provider's API. */
export interface Dialect {
  /** A new request id. */
  requestId(chance: Chance): string
  /** The key of a call; undefined if it has none. @throws ApiRefusal for a key in the wrong form */
  keyOf(authorization: string | undefined): string | undefined
  /** @throws ApiRefusal if the API refuses the request */
  answer(call: ApiCall): object
  /** Refusals that are not about a particular object. */
  readonly refusals: {
    keyMissing(): ApiRefusal
    keyUnknown(key: string): ApiRefusal
    keyMayOnlyRead(): ApiRefusal
    tooLarge(): ApiRefusal
    /** A call over the limit. @param retryAfterS seconds until the next call is accepted */
    rateLimited(retryAfterS: number): ApiRefusal
    /** The refusal for a trouble of kind `error`. */
    missing(): ApiRefusal
    failing(status: number): ApiRefusal
  }
  /** Headers of every answer. */
  headers(requestId: string): Record<string, string>
  /** Adds fields that depend on the request to the body of an answer. By default the body is not changed. */
  complete?(body: object, requestId: string, failed: boolean): object
}

const MAX_BODY_BYTES = 64 * 1024

/** Starts the API. It serves until stop(). */
export async function startProviderApi(
  dialect: Dialect,
  options: ProviderApiOptions & { rateLimits: readonly RateLimit[] },
): Promise<ProviderApi> {
  const { now, chance = createChance() } = options
  const calls: string[] = []
  const troubles = createTroubles()
  let gate = createRateGate(options.rateLimits)
  let readLagMs = options.readLagMs ?? 0

  function admit(request: IncomingMessage, url: URL): { key: string; trouble: Trouble | undefined } {
    const key = authorise(dialect, options, request)
    calls.push(`${request.method} ${url.pathname}${url.search}`)
    const waitMs = gate.admit(endpointOf(request.method ?? 'GET', url.pathname), now())
    if (waitMs > 0) throw dialect.refusals.rateLimited(Math.ceil(waitMs / 1000))
    return { key, trouble: troubles.next(`${url.pathname}${url.search}`) }
  }

  async function callOf(request: IncomingMessage, url: URL, requestId: string, key: string): Promise<ApiCall> {
    const nowMs = now()
    return {
      method: request.method ?? 'GET',
      path: url.pathname,
      query: url.searchParams,
      body: await readBody(request, dialect),
      header: name => headerOf(request, name),
      nowMs,
      readAtMs: nowMs - readLagMs,
      baseUrl: url.origin,
      requestId,
      key,
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = dialect.requestId(chance)
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${request.socket.localPort}`)
    let answer: { status: number; body: object; headers: Readonly<Record<string, string>> }
    try {
      const { key, trouble } = admit(request, url)
      if (trouble !== undefined && (await applyTrouble(trouble, dialect, response)) === 'answered') return
      const body = dialect.answer(await callOf(request, url, requestId, key))
      answer = { status: 200, headers: {}, body: dialect.complete?.(body, requestId, false) ?? body }
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      const { status, headers, body } = error
      answer = { status, headers, body: dialect.complete?.(body, requestId, true) ?? body }
    }
    response.writeHead(answer.status, {
      'content-type': 'application/json; charset=utf-8',
      ...dialect.headers(requestId),
      ...answer.headers,
    })
    // The line end helps people who call the API by curl.
    response.end(`${JSON.stringify(answer.body, undefined, 2)}\n`)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.destroy()
      // A disconnected caller is not an error. Any other error is a bug of the simulator and must be visible.
      if (request.errored === null) throw error
    })
  })
  const { url, port, stop } = await listenOnLoopback(server, options.port)
  return {
    url,
    port,
    calls: () => calls,
    setTrouble: troubles.meet,
    lagReads(ms) {
      readLagMs = ms
    },
    limitRate(limits) {
      gate = createRateGate(limits)
    },
    stop,
  }
}

function authorise(dialect: Dialect, options: ProviderApiOptions, request: IncomingMessage): string {
  const key = dialect.keyOf(headerOf(request, 'authorization'))
  if (key === undefined || key === '') throw dialect.refusals.keyMissing()
  if (options.writeKeys?.includes(key)) return key
  if (!options.readKeys.includes(key)) throw dialect.refusals.keyUnknown(key)
  if (request.method !== 'GET') throw dialect.refusals.keyMayOnlyRead()
  return key
}

/** Lets a call get a trouble. @returns `answered` if the call needs no other answer */
async function applyTrouble(
  trouble: Trouble,
  dialect: Dialect,
  response: ServerResponse,
): Promise<'answered' | 'delayed'> {
  switch (trouble.kind) {
    case 'error': {
      const { rateLimited, failing } = dialect.refusals
      const refusal = trouble.status === 429 ? rateLimited(trouble.retryAfterS ?? 1) : failing(trouble.status)
      const retryAfter = trouble.retryAfterS === undefined ? {} : { 'retry-after': String(trouble.retryAfterS) }
      throw new ApiRefusal(refusal.status, refusal.message, refusal.body, { ...refusal.headers, ...retryAfter })
    }
    case 'missing':
      throw dialect.refusals.missing()
    case 'html':
      response.writeHead(trouble.status, { 'content-type': 'text/html' })
      response.end('<html><head><title>Bad gateway</title></head><body><h1>Bad gateway</h1></body></html>')
      return 'answered'
    case 'cut':
      response.destroy()
      return 'answered'
    case 'silence':
      return 'answered'
    case 'slow':
      await new Promise(resolve => setTimeout(resolve, trouble.afterMs))
      return 'delayed'
    default:
      throw trouble satisfies never
  }
}

/** The path without ids, so that all objects of a kind count as one endpoint. */
function endpointOf(method: string, path: string): string {
  const resource = /^(?:\/(?:v1|api\/v2))?\/([^/]+)(\/.)?/.exec(path)
  return `${method} ${resource?.[1] ?? path}${resource?.[2] === undefined ? '' : '/{id}'}`
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

async function readBody(request: IncomingMessage, dialect: Dialect): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw dialect.refusals.tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
