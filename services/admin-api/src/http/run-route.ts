import { AppError, type ByteBudget, type Clock, type Logger, type SecretBox } from '@backstop/kit'
import type { Request, Response } from 'express'
import { authenticate } from '../access/authenticate.ts'
import { decideAccess, type Principal } from '../access/rules/access.ts'
import type { AdminStores } from '../store/stores.ts'
import { changeWithAuditRow, writeAuditRow } from './audit-row.ts'
import { checkInput } from './check-input.ts'
import { endAnswer } from './end-answer.ts'
import { randomIds, runOnce } from './idempotency.ts'
import { receiveBody, unexpectedBody } from './read-body.ts'
import type { Route, RouteAnswer, RouteRequest } from './route.ts'

/** Principal of requests to public routes; it has no scopes. */
const PUBLIC_PRINCIPAL: Principal = { keyId: 'nobody', scopes: [], projectId: '' }

/** Services and settings for running routes. */
export interface RouteRunnerOptions {
  readonly stores: AdminStores
  readonly secretBox: SecretBox
  readonly clock: Clock
  /** Limits the bytes of all request bodies in memory. */
  readonly bodies: ByteBudget
  readonly logger: Logger
  /** Aborted when the process stops, so that waiting requests end. */
  readonly stopping: AbortSignal
}

/** A request that is authenticated and checked, except for its body. */
interface CheckedRequest {
  readonly route: Route
  readonly request: Request
  readonly response: Response
  readonly principal: Principal
  readonly params: unknown
  readonly query: unknown
  /** The body, not checked yet. */
  readonly given: unknown
  readonly now: Date
}

/**
 * Runs a route for a request, in this order: authenticate the key, check its scope, check the request, look up the Idempotency-Key, make
 * the change and write its audit row, answer. The body is not read before the scope is checked.
 */
export function createRouteRunner(options: RouteRunnerOptions) {
  const { stores, secretBox, clock, bodies, logger } = options
  return async (route: Route, request: Request, response: Response): Promise<void> => {
    const { facts } = response.locals
    const now = new Date(clock.now())
    const principal =
      route.scope === 'public'
        ? PUBLIC_PRINCIPAL
        : await authenticate(request.get('authorization'), stores.apiKeys, now, logger)
    facts.principal = principal === PUBLIC_PRINCIPAL ? undefined : principal
    checkAccess(route, principal)
    const params = checkInput('path', route.params, request.params)
    const query = checkInput('query', route.query.strict(), request.query)
    route.checkCredential(params as never)
    const received = await receiveBody(request, route, { budget: bodies, clock })
    try {
      const checkedRequest = { route, request, response, principal, params, query, given: received.content, now }
      send(response, await runHandler(checkedRequest), clock)
    } finally {
      received.release()
    }
  }

  /** Runs the route's handler on a completely received request. */
  async function runHandler(checkedRequest: CheckedRequest): Promise<RouteAnswer> {
    const { route, request, response, principal, params, query, given, now } = checkedRequest
    const { facts } = response.locals
    const body = checkBody(route, given)
    const work = async (makeId: RouteRequest<never, never, never>['newId']) => {
      const requester = { keyId: principal.keyId, requestId: facts.requestId, address: facts.address, now }
      const answer = await route.handle({
        params,
        query,
        body,
        principal,
        ifMatch: request.get('if-match'),
        now,
        newId: makeId,
        change: changeWithAuditRow(stores, makeId, requester),
        signal: AbortSignal.any([disconnectSignal(response), options.stopping]),
        requestId: facts.requestId,
        logger,
      } as unknown as RouteRequest<never, never, never>)
      if (answer.changed !== undefined) await writeAuditRow(stores, makeId('audit'), requester, answer.changed)
      return answer
    }
    const key = route.method === 'post' && route.scope !== 'public' ? request.get('idempotency-key') : undefined
    if (key === undefined) return work(randomIds)
    return runOnce(
      stores.idempotencyKeys,
      secretBox,
      {
        key,
        callerId: principal.keyId,
        content: [request.method, request.path, JSON.stringify(given ?? null)],
        now,
        shownOnce: Object.values(route.answers).flatMap(({ shownOnce }) => shownOnce ?? []),
      },
      work,
    )
  }
}

function checkAccess({ scope }: Route, principal: Principal): void {
  if (scope === 'public') return
  const access = decideAccess(principal, scope)
  if (access.kind === 'granted') return
  throw new AppError('forbidden', `Use an API key with the scope ${scope}`, { details: { reason: access.reason } })
}

function checkBody(route: Route, given: unknown): unknown {
  if (route.bodyForm === 'ignored') return undefined
  if (route.body !== undefined) return checkInput('body', route.body, route.needsBody ? given : (given ?? {}))
  const isEmpty =
    given === undefined || (typeof given === 'object' && given !== null && Object.keys(given).length === 0)
  if (isEmpty) return undefined
  throw unexpectedBody()
}

function disconnectSignal(response: Response): AbortSignal {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  return gone.signal
}

function send(response: Response, answer: RouteAnswer, clock: Clock): void {
  response.status(answer.status).set(answer.headers ?? {})
  const { html, text, serialized, body } = answer
  if (html !== undefined) endAnswer(response.type('text/html'), html, clock)
  else if (text !== undefined) endAnswer(response.type('text/plain'), text, clock)
  else if (serialized !== undefined) endAnswer(response.type('application/json'), serialized, clock)
  else if (body === undefined || body === null) endAnswer(response, undefined, clock)
  else endAnswer(response.type('application/json'), JSON.stringify(body), clock)
}
