import type { Clock } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { Span } from '@backstop/kit/tracing'
import type { Request, Response } from 'express'
import type { RequestFacts } from '../access/request-facts.ts'
import type { Route } from './route.ts'

/** Longest path in the log. The API's own paths are much shorter; a client may send 16 KiB. */
const LOGGED_PATH_LENGTH = 256

/** Routes whose path is not logged: a token in a path is a credential, and a mail address is personal data. */
const UNLOGGED_ROUTE = /\{(?:token|address)\}/

/** Creates the observer that writes one log line and one measurement when a request ends. */
export function createRequestObserver(options: {
  clock: Clock
  logger: Logger
  metrics: Metrics
  routes: readonly Route[]
}) {
  const { clock, logger, metrics } = options
  const pathOf = createPathForLog(options.routes)
  return (request: Request, response: Response, facts: RequestFacts, span?: Span): void => {
    const startedAt = clock.now()
    response.once('close', () => {
      const durationMs = clock.now() - startedAt
      const route = facts.route ?? 'unknown'
      const method = request.method
      // Before the answer begins, statusCode is only Node's default, so a request that the client aborted has no status.
      const status = response.headersSent ? response.statusCode : undefined
      metrics.recordHttpRequest({ method, route, status: status ?? 'none', durationS: durationMs / 1_000 })
      if (span?.isSampled) endSpan(span, method, route, status, facts)
      const line = {
        request_id: facts.requestId,
        trace_id: facts.traceId,
        method,
        route,
        path: pathOf(facts.route, request.path),
        status,
        code: facts.code,
        duration_ms: durationMs,
        ...describeIdentity(facts.identity),
        address: facts.address,
        finished: response.writableFinished,
      }
      logger[(status ?? 0) >= 500 ? 'error' : 'info'](line, 'http.request')
    })
  }
}

/** The path and the query are no attributes, because they may contain personal data. */
function endSpan(
  span: Span,
  method: string,
  route: string,
  status: number | undefined,
  { operation, code, requestId }: RequestFacts,
): void {
  span.rename(`${method} ${route}`)
  span.set({
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'backstop.operation': operation,
    'backstop.request_id': requestId,
  })
  span.end((status ?? 500) >= 500 ? (code ?? 'unfinished') : undefined)
}

function describeIdentity(identity: RequestFacts['identity']) {
  if (identity === undefined) return {}
  const { kind, id, sessionId, grants } = identity
  const session = sessionId === null ? {} : { session_id: sessionId }
  if (kind === 'person') return { person_id: id, ...session }
  return { key_id: id, key_project_id: grants[0]?.projectId ?? undefined, ...session }
}

/** Returns the function that gives a path as it is logged: without the query, which may hold personal data. */
function createPathForLog(routes: readonly Route[]): (route: string | undefined, path: string) => string {
  const unloggedSegments = new Set(
    routes.filter(({ path }) => UNLOGGED_ROUTE.test(path)).map(({ path }) => path.split('/')[2]),
  )
  return (route, path) => {
    if (route !== undefined && UNLOGGED_ROUTE.test(route)) return route
    const segments = path.split('/')
    // A link that a mail program or a proxy changed matches no route, but its token may still be valid.
    const index = segments.findIndex(segment => unloggedSegments.has(segment.toLowerCase()))
    const isKept = route !== undefined || index < 0
    return (isKept ? path : [...segments.slice(0, index + 1), '…'].join('/')).slice(0, LOGGED_PATH_LENGTH)
  }
}
