/** The processor's API on loopback: authentication, error bodies and trouble on demand around routes.ts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createChance } from '../../chance.ts'
import { listenOnLoopback } from '../../listen-on-loopback.ts'
import type { CardProcessor } from '../card-processor.ts'
import { API_VERSION } from '../objects.ts'
import { ProcessorRefusal } from '../processor-refusal.ts'
import { answerCall } from './routes.ts'

export interface ProcessorApiOptions {
  processor: CardProcessor
  /** Keys that may read, e.g. `rk_test_…`. */
  readKeys: readonly string[]
  /** Keys that may also pay and refund, e.g. `sk_test_…`. */
  writeKeys?: readonly string[]
  /** A free one when left out. */
  port?: number
  /** Milliseconds since the epoch. */
  now: () => number
}

/** Trouble that the next calls meet instead of an answer. */
export type Trouble =
  | { kind: 'error'; status: 429 | 500 | 503; times: number }
  /** The call is taken and never answered. */
  | { kind: 'silence'; times: number }
  /** The object is not visible yet, as shortly after an event: 404. */
  | { kind: 'missing'; times: number }

export interface ProcessorApi {
  url: string
  port: number
  /** Method and path with query of every authenticated call so far, oldest first. */
  calls(): readonly string[]
  /** The next calls meet this; what was set before is forgotten. */
  meet(trouble: Trouble): void
  stop(): Promise<void>
}

const MAX_FORM_BYTES = 64 * 1024

/** Serves the account's API until stop(). */
export async function startProcessorApi(options: ProcessorApiOptions): Promise<ProcessorApi> {
  const chance = createChance()
  const calls: string[] = []
  let trouble: Trouble | undefined

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object } | undefined> {
    const url = new URL(request.url ?? '/', 'http://loopback')
    const method = request.method ?? 'GET'
    authorise(request, options)
    calls.push(`${method} ${url.pathname}${url.search}`)
    if (trouble !== undefined && trouble.times > 0) {
      trouble = { ...trouble, times: trouble.times - 1 }
      if (trouble.kind === 'silence') return undefined
      throw troubleRefusal(trouble)
    }
    const body = answerCall(
      options.processor,
      {
        method,
        path: url.pathname,
        query: url.searchParams,
        form: new URLSearchParams(await readForm(request)),
        idempotencyKey: headerOf(request, 'idempotency-key') ?? null,
      },
      Math.floor(options.now() / 1000),
    )
    return { status: 200, body }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = `req_${chance.text(14)}`
    const answered = await answer(request).catch((error: unknown) => refusalAnswer(error, requestId))
    if (answered === undefined) return
    response.writeHead(answered.status, {
      'content-type': 'application/json',
      'request-id': requestId,
      'stripe-version': API_VERSION,
    })
    // With a line end, for whoever calls it by hand.
    response.end(`${JSON.stringify(answered.body, undefined, 2)}\n`)
  }

  const server = createServer((request, response) => void serve(request, response))
  const { url, port, stop } = await listenOnLoopback(server, options.port)
  return {
    url,
    port,
    calls: () => calls,
    meet(next) {
      trouble = next
    },
    stop,
  }
}

function refusalAnswer(error: unknown, requestId: string): { status: number; body: object } {
  if (!(error instanceof ProcessorRefusal)) throw error
  const log = `https://dashboard.stripe.com/test/logs/${requestId}`
  return { status: error.status, body: { error: { ...error.body, request_log_url: log } } }
}

/** Accepts the key as bearer token or as the user of basic authentication, as the real API does. */
function authorise(request: IncomingMessage, options: ProcessorApiOptions): void {
  const [scheme, value] = (headerOf(request, 'authorization') ?? '').split(' ', 2)
  const key =
    scheme?.toLowerCase() === 'basic'
      ? Buffer.from(value ?? '', 'base64')
          .toString('utf8')
          .split(':')[0]
      : value
  if (key === undefined || key === '') {
    throw new ProcessorRefusal(401, {
      type: 'invalid_request_error',
      message:
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    })
  }
  if (options.writeKeys?.includes(key)) return
  if (!options.readKeys.includes(key)) {
    const shown = `${key.slice(0, 8)}${'*'.repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`
    throw new ProcessorRefusal(401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${shown}` })
  }
  if (request.method !== 'GET') {
    throw new ProcessorRefusal(403, {
      type: 'invalid_request_error',
      message: 'The provided key does not have the required permissions for this endpoint.',
    })
  }
}

function troubleRefusal(trouble: Exclude<Trouble, { kind: 'silence' }>): ProcessorRefusal {
  if (trouble.kind === 'missing') {
    return new ProcessorRefusal(404, {
      type: 'invalid_request_error',
      code: 'resource_missing',
      message: 'No such object',
    })
  }
  if (trouble.status === 429) {
    const message =
      'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.'
    return new ProcessorRefusal(429, { type: 'invalid_request_error', code: 'rate_limit', message })
  }
  return new ProcessorRefusal(trouble.status, { type: 'api_error', message: 'An unknown error occurred' })
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}

async function readForm(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_FORM_BYTES)
      throw new ProcessorRefusal(413, { type: 'invalid_request_error', message: 'Request too large' })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
