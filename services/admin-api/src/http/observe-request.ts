import { type Clock, HTTP_BUCKETS_S, type Logger, type Metrics } from '@backstop/kit'
import type { Request, Response } from 'express'
import type { RequestFacts } from '../access/request-facts.ts'
import type { Route } from './route.ts'

/** Longest path that is logged: every path of ours is much shorter, and a stranger's may be 16 KiB. */
const LOGGED_PATH_LENGTH = 256

/** A token in a path is a credential, an address is somebody's. */
const NOT_LOGGED = /\{(?:token|address)\}/

/** Writes one wide log line, and one measurement, for each request once it is over. */
export function createRequestObserver(options: {
  clock: Clock
  logger: Logger
  metrics: Metrics
  routes: readonly Route[]
}) {
  const { clock, logger } = options
  const pathOf = loggedPaths(options.routes)
  const duration = options.metrics.histogram(
    'http_server_request_duration_seconds',
    'From the first byte of a request to the end of its answer',
    ['method', 'route', 'status'],
    HTTP_BUCKETS_S,
  )
  return (request: Request, response: Response, facts: RequestFacts): void => {
    const startedAt = clock.now()
    response.once('close', () => {
      const durationMs = clock.now() - startedAt
      const route = facts.route ?? 'unknown'
      const method = request.method
      // Until an answer begins, statusCode is only Node's default: a caller who hung up before was told no status.
      const status = response.headersSent ? response.statusCode : undefined
      duration.observe({ method, route, status: String(status ?? 'none') }, durationMs / 1_000)
      const line = {
        request_id: facts.requestId,
        method,
        route,
        path: pathOf(facts.route, request.path),
        status,
        code: facts.code,
        duration_ms: durationMs,
        key_id: facts.principal?.keyId,
        key_project_id: facts.principal?.projectId ?? undefined,
        address: facts.address,
        finished: response.writableFinished,
      }
      logger[(status ?? 0) >= 500 ? 'error' : 'info'](line, 'http.request')
    })
  }
}

/** Paths as they are logged: without the query, since what is searched for is nobody's business. */
function loggedPaths(routes: readonly Route[]): (route: string | undefined, path: string) => string {
  const secretive = new Set(routes.filter(({ path }) => NOT_LOGGED.test(path)).map(({ path }) => path.split('/')[2]))
  return (route, path) => {
    if (route !== undefined && NOT_LOGGED.test(route)) return route
    const segments = path.split('/')
    // A link that a mail program or a proxy broke is no path of ours any more, and its token is still good.
    const index = segments.findIndex(segment => secretive.has(segment.toLowerCase()))
    const isKept = route !== undefined || index < 0
    return (isKept ? path : [...segments.slice(0, index + 1), '…'].join('/')).slice(0, LOGGED_PATH_LENGTH)
  }
}
