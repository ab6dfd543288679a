import { newOrderedId } from '@backstop/contracts'
import { signRow } from '@backstop/kit/audit'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { ByteBudget } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { Request, Response } from 'express'
import type { RefusalAudit } from '../access/audit-refusals.ts'
import { authenticate } from '../access/authenticate.ts'
import { type CookieForm, decideCookieForm, readCookie } from '../access/cookies.ts'
import type { RequestLimits } from '../access/rate-limiter.ts'
import {
  decideAccess,
  type Identity,
  type NeededScope,
  type Principal,
  restrictToProject,
} from '../access/rules/access.ts'
import type { RequestOrigin } from '../access/rules/same-origin.ts'
import type { UseRecorder } from '../access/use-recorder.ts'
import type { AdminStores } from '../store/stores.ts'
import { endAnswer } from './answer-problem.ts'
import { changeWithAuditRow, toAuditRow, writeAuditRow } from './audit-row.ts'
import { checkInput } from './check-input.ts'
import { createListCursors, type ListCursors } from './cursor.ts'
import { type IdempotentWork, randomIds, runOnce } from './idempotency.ts'
import { receiveBody, unexpectedBody } from './read-body.ts'
import type { RequestClient, Route, RouteAnswer, RouteRequest } from './route.ts'

/** Principal of requests to public routes; it has no scopes. */
const PUBLIC_PRINCIPAL: Principal = {
  kind: 'key',
  id: 'nobody',
  name: 'nobody',
  sessionId: null,
  keyHash: null,
  grants: [],
  projectIds: [],
}

/** Services and settings for running routes. */
export interface RouteRunnerOptions {
  readonly stores: AdminStores
  readonly secretBox: SecretBox
  /** Why this process must change nothing now; undefined if it may. */
  refusesChanges(): string | undefined
  readonly clock: Clock
  /** Limits the bytes of all request bodies in memory. */
  readonly bodies: ByteBudget
  readonly uses: Pick<UseRecorder, 'record'>
  readonly refusals: Pick<RefusalAudit, 'record'>
  readonly limits: Pick<RequestLimits, 'limitKey'>
  /** Base URL of this API for browsers. */
  readonly publicUrl: string
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
 * Runs a route for a request, in this order: authenticate the key or session, check its scope, check the request, look up the Idempotency-Key, make
 * the change and write its audit row, answer. The body is not read before the scope is checked.
 */
export function createRouteRunner(options: RouteRunnerOptions) {
  const { clock, bodies } = options
  return async (route: Route, request: Request, response: Response): Promise<void> => {
    const now = new Date(clock.now())
    const principal = await authorize(options, route, request, now, response)
    const params = checkInput('path', route.params, request.params)
    const query = checkInput('query', isOpen(route.query) ? route.query : route.query.strict(), request.query)
    route.checkCredential(params as never)
    const received = await receiveBody(request, route, { budget: bodies, clock })
    try {
      const given = received.content
      const answer = await runHandler(options, { route, request, response, principal, params, query, given, now })
      if (answer.refusal !== undefined) recordRefusal(options, answer.refusal, route, response)
      await send(response, answer, clock)
    } finally {
      received.release()
    }
  }
}

/**
 * Authenticates the caller and checks the scope of the route. Refuses a change while this process must not make any; sign-ins go on.
 * @param response of a new request, which counts for the limit of the caller and whose facts get the caller, also if the scope is missing
 */
async function authorize(
  options: RouteRunnerOptions,
  { scope, method }: Route,
  request: Request,
  now: Date,
  response?: Response,
): Promise<Principal> {
  if (scope === 'public') return PUBLIC_PRINCIPAL
  const authorization = request.get('authorization')
  const cookieForm = decideCookieForm(request.get('host'), options.publicUrl)
  const credentials = { ...originOf(request), authorization, cookie: request.get('cookie'), cookieForm }
  const identity = await authenticate(credentials, options, now)
  if (response !== undefined) {
    response.locals.facts.identity = identity
    options.limits.limitKey(identity.id, response)
  }
  const principal = toPrincipal(identity, scope)
  const refusal = method === 'get' ? undefined : options.refusesChanges()
  if (refusal !== undefined) throw new AppError('unavailable', refusal, { retryable: true })
  return principal
}

/** Does for a refusal that is answered as a page what the server does for one that is answered as a problem. */
function recordRefusal(
  { refusals, logger }: RouteRunnerOptions,
  refusal: AppError,
  { operationId }: Route,
  { locals: { facts } }: Response,
): void {
  facts.code = refusal.code
  refusals.record(refusal, operationId, facts)
  if (refusal.status >= 500) logger.warn({ error: refusal, request_id: facts.requestId }, 'http.unavailable')
}

/** Runs the route's handler on a completely received request. */
async function runHandler(options: RouteRunnerOptions, checked: CheckedRequest): Promise<RouteAnswer> {
  const { stores, secretBox } = options
  const { route, request, response, principal, given, now } = checked
  const { requestId, address } = response.locals.facts
  const body = checkBody(route, given)
  const work: IdempotentWork = async (makeId, decideOnce) => {
    const requester = { identity: principal, requestId, address, now }
    const change = changeWithAuditRow(stores, makeId, requester)
    const auditRow: RouteRequest<never, never, never>['auditRow'] = described =>
      signRow(toAuditRow(newOrderedId('audit', now.getTime()), requester, described), secretBox)
    const made = { body, newId: makeId, decideOnce, change, auditRow }
    const answer = await route.handle(routeRequestOf(options, checked, made))
    const { changed } = answer
    if (changed !== undefined) await writeAuditRow(stores, changed.rowId ?? makeId('audit'), requester, changed)
    return answer
  }
  const key = route.method === 'post' && route.scope !== 'public' ? request.get('idempotency-key') : undefined
  if (key === undefined) return work(randomIds(now), decide => decide())
  const idempotent = {
    key,
    callerId: principal.id,
    content: [request.method, request.path, JSON.stringify(given ?? null)],
    now,
    shownOnce: Object.values(route.answers).flatMap(({ shownOnce }) => shownOnce ?? []),
  }
  return runOnce(stores.idempotencyKeys, secretBox, idempotent, work)
}

function routeRequestOf(
  options: RouteRunnerOptions,
  checked: CheckedRequest,
  made: Pick<RouteRequest<never, never, unknown>, 'body' | 'newId' | 'decideOnce' | 'change' | 'auditRow'>,
): RouteRequest<never, never, never> {
  const { clock, stopping, logger, publicUrl } = options
  const { route, request, response, principal, params, query, now } = checked
  const { requestId, address } = response.locals.facts
  let signal: AbortSignal | undefined
  return {
    ...made,
    params,
    query,
    principal,
    client: clientOf(request, address, decideCookieForm(request.get('host'), publicUrl)),
    ifMatch: request.get('if-match'),
    now,
    cursors: cursorsFor(options, checked, made.body),
    lastEventId: request.get('last-event-id'),
    accepts: (types: readonly string[]) => request.accepts([...types]) || undefined,
    authorize: () => authorize(options, route, request, new Date(clock.now())),
    // Made for the few handlers that use it.
    get signal() {
      signal ??= AbortSignal.any([disconnectSignal(response), stopping])
      return signal
    },
    requestId,
    logger,
  } as RouteRequest<unknown, unknown, unknown> as RouteRequest<never, never, never>
}

function cursorsFor(
  { secretBox }: RouteRunnerOptions,
  { route, principal, params, query }: CheckedRequest,
  body: unknown,
): ListCursors {
  const asked =
    (query as { project_id?: string }).project_id ?? (body as { project_id?: string } | undefined)?.project_id
  const filter = restrictToProject(principal, asked)
  const projectId = filter.kind === 'filter' ? filter.where.project_id : undefined
  return createListCursors(secretBox, { list: route.operationId, projectId, params, query, body })
}

/** @throws AppError `forbidden` */
function toPrincipal(identity: Identity, scope: NeededScope): Principal {
  const access = decideAccess(identity, scope)
  if (access.kind === 'granted') return { ...identity, projectIds: access.projectIds }
  const message =
    identity.kind === 'key' ? `Use an API key with the scope ${scope}` : `None of your roles has the scope ${scope}`
  throw new AppError('forbidden', message, { details: { reason: access.reason } })
}

function isOpen(query: Route['query']): boolean {
  return query.def.catchall !== undefined
}

function originOf(request: Request): RequestOrigin {
  return {
    method: request.method,
    host: request.get('host'),
    origin: request.get('origin'),
    fetchSite: request.get('sec-fetch-site'),
  }
}

const MAX_USER_AGENT_LENGTH = 256

function clientOf(request: Request, address: string | undefined, cookieForm: CookieForm): RequestClient {
  return {
    ...originOf(request),
    address: address ?? null,
    userAgent: request.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
    cookieForm,
    cookie: name => readCookie(request.get('cookie'), name, cookieForm),
  }
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
  if (response.closed) return AbortSignal.abort()
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  return closed.signal
}

async function send(response: Response, answer: RouteAnswer, clock: Clock): Promise<void> {
  response.status(answer.status).set((answer.headers ?? {}) as Record<string, string | string[]>)
  const { html, text, serialized, body, stream } = answer
  if (stream !== undefined && response.req.method !== 'HEAD') await stream(response)
  else if (html !== undefined) endAnswer(response.type('text/html'), html, clock)
  else if (text !== undefined) endAnswer(response.type('text/plain'), text, clock)
  else if (serialized !== undefined) endAnswer(response.type('application/json'), serialized, clock)
  else if (body === undefined || body === null) endAnswer(response, undefined, clock)
  else endAnswer(response.type('application/json'), JSON.stringify(body), clock)
}
