import type { ErrorCode } from '@backstop/contracts'
import { type Clock, HTTP_BUCKETS_S, type Logger, type Metrics } from '@backstop/kit'
import type { Request, Response } from 'express'
import type { Principal } from '../domain/access.ts'

/** What becomes known of a request on its way, for its log line. */
export interface RequestFacts {
  readonly requestId: string
  /** As the route table has it, never as it was asked for: it is a label of a metric. */
  route: string | undefined
  principal: Principal | undefined
  code: ErrorCode | undefined
}

/** Longest path that is logged: every path of ours is much shorter, and a stranger's may be 16 KiB. */
const LOGGED_PATH_LENGTH = 256

/** A token in a path is a credential, an address is somebody's. */
const NOT_LOGGED = /\{(?:token|address)\}/

/** Writes one wide log line, and one measurement, for each request once it is over. */
export function createRequestObserver(options: { clock: Clock; logger: Logger; metrics: Metrics }) {
  const { clock, logger } = options
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
        // Without the query: what is searched for is nobody's business, and may be long.
        path: NOT_LOGGED.test(route) ? route : request.path.slice(0, LOGGED_PATH_LENGTH),
        status,
        code: facts.code,
        duration_ms: durationMs,
        key_id: facts.principal?.keyId,
        key_project_id: facts.principal?.projectId ?? undefined,
        address: request.socket.remoteAddress,
        finished: response.writableFinished,
      }
      logger[(status ?? 0) >= 500 ? 'error' : 'info'](line, 'http.request')
    })
  }
}
