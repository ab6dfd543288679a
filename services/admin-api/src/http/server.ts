import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { newId } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import {
  type ByteBudget,
  clientAddress,
  headerValuesOf,
  limitSockets,
  type SocketLimitOptions,
} from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { SecretBox } from '@backstop/kit/secret-box'
import { type Tracing, traceIdOf } from '@backstop/kit/tracing'
import express, { type NextFunction, type Request, type RequestHandler, type Response } from 'express'
import type { RefusalAudit } from '../access/audit-refusals.ts'
import { createRequestLimits, type RateLimits } from '../access/rate-limiter.ts'
import type { RequestFacts } from '../access/request-facts.ts'
import type { UseRecorder } from '../access/use-recorder.ts'
import type { AdminStores } from '../store/stores.ts'
import { answerProblem } from './answer-problem.ts'
import { createRequestObserver } from './observe-request.ts'
import { refuseInvalidHttp, SECURITY_HEADERS } from './refuse-bad-http.ts'
import type { Method, Route } from './route.ts'
import { createRouteRunner } from './run-route.ts'

/** Services and settings of the server. */
export interface ApiServerOptions {
  readonly routes: readonly Route[]
  readonly stores: AdminStores
  readonly secretBox: SecretBox
  refusesChanges(): string | undefined
  readonly clock: Clock
  /** Limits the bytes of all request bodies in memory. */
  readonly bodies: ByteBudget
  readonly refusals: Pick<RefusalAudit, 'record'>
  readonly rateLimits: RateLimits
  /** Base URL of this API for browsers. */
  readonly publicUrl: string
  /** Serves the console, and leaves every other request to the next handler. */
  readonly serveConsole: RequestHandler
  readonly uses: Pick<UseRecorder, 'record'>
  readonly sockets: Pick<SocketLimitOptions, 'maxSockets' | 'maxPerAddress' | 'isTrustedProxy'>
  readonly logger: Logger
  readonly metrics: Metrics
  /** Undefined if traces are off. */
  readonly tracing?: Tracing | undefined
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal
}

/** The server of the management API. */
export interface ApiServer {
  readonly server: Server
  /** Writes log lines that the socket limits still hold back. Call it after the server is closed. */
  stop(): void
}

const AUTHORIZATION = new Set(['authorization'])
const FORWARDED_FOR = new Set(['x-forwarded-for'])
const MAX_HEADERS = 100
const MAX_REQUESTS_PER_SOCKET = 1_000

/** The facts about each request, for its log line and audit row. */
declare module 'express-serve-static-core' {
  interface Locals {
    facts: RequestFacts
  }
}

/** Creates the HTTP server of the management API from the route table. */
export function createApiServer(options: ApiServerOptions): ApiServer {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('case sensitive routing', true)
  // Repeated query parameters become lists and brackets have no special meaning, so the schemas decide what is accepted.
  app.set('query parser', 'simple')
  const observe = createRequestObserver(options)
  const { isTrustedProxy } = options.sockets
  const limits = createRequestLimits(options.rateLimits, options.clock)
  /** Requests that exceed the limit of requests in flight per address. */
  const excess = new WeakSet<IncomingMessage>()
  app.use((request, response, next) => {
    const { remoteAddress } = request.socket
    const span = options.tracing?.start(request.method, { kind: 'server', sender: traceparentOf(request) })
    const facts: RequestFacts = {
      requestId: newId('request'),
      address:
        remoteAddress === undefined
          ? undefined
          : clientAddress(remoteAddress, headerValuesOf(request.rawHeaders, FORWARDED_FOR), isTrustedProxy),
      route: undefined,
      operation: undefined,
      identity: undefined,
      code: undefined,
      traceId: span && traceIdOf(span.traceparent),
    }
    response.locals.facts = facts
    // Without listeners, the error of a broken connection could end the process. The 'close' event already reports the broken connection.
    request.on('error', () => {})
    response.on('error', () => {})
    response.set({ ...SECURITY_HEADERS, 'x-request-id': facts.requestId })
    observe(request, response, facts, span)
    if (facts.address !== undefined) limits.limitAddress(facts.address, response)
    next()
  })
  app.use((request, response, next) => {
    if (excess.has(request)) {
      response.set('connection', 'close')
      throw new AppError('overloaded', 'Too many requests from this address are in flight; retry later')
    }
    // Also of HTTP/1.0, which does not require it: without it, the origin of a request cannot be checked.
    if (!request.headers.host) throw new AppError('invalid_request', 'Send a Host header')
    // Node would use the first header, while a proxy in front may have checked the second.
    if (headerValuesOf(request.rawHeaders, AUTHORIZATION).length > 1) {
      response.locals.facts.operation = 'none'
      throw new AppError('invalid_request', 'Send one Authorization header')
    }
    next()
  })
  app.use(options.serveConsole)
  const run = createRouteRunner({ ...options, limits })
  const byPath = Map.groupBy(options.routes, route => route.path)
  for (const [path, routes] of byPath) mountRoutes(app, path, routes, run)
  app.use((_request: Request, _response: Response, next: NextFunction) => {
    next(new AppError('not_found', 'Unknown path; GET /v1/openapi.json lists all paths'))
  })
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const { facts } = response.locals
    if (facts.operation !== undefined) options.refusals.record(error, facts.operation, facts)
    answerProblem(response, error, options)
  })
  const server = createServer({
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 75_000,
    maxHeaderSize: 16_384,
    // The middleware above refuses a request without Host with a problem document. Node's own refusal has no body.
    requireHostHeader: false,
  })
  server.maxHeadersCount = MAX_HEADERS
  const socketLimits = limitSockets(server, {
    ...options,
    ...options.sockets,
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
  })
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const admission = socketLimits.admit(request, response)
    if (admission === 'ignore') return
    if (admission === 'refuse') excess.add(request)
    app(request, response)
  }
  server.on('request', serve)
  // A server may ignore any Expect header other than 100-continue (RFC 9110, 10.1.1).
  server.on('checkExpectation', serve)
  refuseInvalidHttp(server, options.logger)
  return { server, stop: () => socketLimits.stop() }
}

function mountRoutes(
  app: express.Express,
  path: string,
  routes: readonly Route[],
  run: (route: Route, request: Request, response: Response) => Promise<void>,
): void {
  const expressPath = path.replaceAll(/\{(\w+)\}/g, ':$1')
  for (const route of routes) {
    app[route.method](expressPath, async (request, response) => {
      const { facts } = response.locals
      facts.route = route.path
      facts.operation = route.operationId
      await run(route, request, response)
    })
  }
  const allowed = allowedMethods(routes.map(route => route.method))
  // `app.all` would make a layer for each method that HTTP knows.
  app.route(expressPath).all((request, response) => {
    const { facts } = response.locals
    facts.route = path
    facts.operation = path
    response.set('allow', allowed)
    throw new AppError('method_not_allowed', `${request.method} is not allowed on this path; use ${allowed}`)
  })
}

function allowedMethods(methods: readonly Method[]): string {
  // Express answers HEAD with the GET route.
  return methods.flatMap(method => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ')
}

/** Node joins repeated headers, which makes them invalid. */
function traceparentOf({ headers: { traceparent } }: IncomingMessage): string | undefined {
  return typeof traceparent === 'string' ? traceparent : undefined
}
