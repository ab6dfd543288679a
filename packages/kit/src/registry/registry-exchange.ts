import { Agent, fetch } from 'undici'
import type { Secret } from '../config/secret.ts'
import { RefusedError } from '../credentials/refusal.ts'
import type { TlsMaterial } from '../credentials/tls-material.ts'
import { AppError, unavailable } from '../errors.ts'

/** One request to a schema registry, in the form of the client library. */
interface RegistryRequest {
  method(): string
  /** The whole URL, without credentials. */
  url(): string
  headers(): Record<string, string>
  /** JSON text; undefined for a request without a body. */
  body(): unknown
  auth(): { readonly username: string; readonly password: string } | undefined
}

/**
 * Sends a request to a schema registry and returns the parsed answer.
 * @throws AppError `not_found` and `conflict` if the registry answers so; `unavailable` if it does not answer, or if
 * another server (such as a proxy) answers for it; `internal` for any other refusal
 */
export type RegistryExchange = (request: RegistryRequest) => Promise<object>

const REQUEST_TIMEOUT_MS = 5_000

/** How to be accepted by a schema registry. */
export interface RegistryCredentials {
  /** The authorities and the client certificate; by default those of Node, and none. */
  readonly tls?: TlsMaterial | undefined
  /** For basic authentication, instead of user and password in the URL. Read again for each request. */
  readonly login?: { readonly username: Secret; readonly password: Secret } | undefined
}

type HttpRequest = NonNullable<Parameters<typeof fetch>[1]>

/**
 * Creates the exchange over HTTP. It replaces the library's own transport (mappersmith 2.47), which never settles if a
 * connection breaks in the middle of an answer, has no deadline, and reports a refused connection as status 400.
 * @param withinMs how long an answer may take
 */
export function createHttpExchange(
  { tls, login }: RegistryCredentials = {},
  withinMs: number = REQUEST_TIMEOUT_MS,
): RegistryExchange {
  // Each request has a connection of its own (`pipelining: 0`), because requests are rare and certificates may change.
  const dispatcher = new Agent({
    pipelining: 0,
    connect: {
      allowH2: false,
      maxCachedSessions: 0,
      ...(tls === undefined ? {} : { secureContext: tls.liveContext }),
    },
  })
  return async request => {
    const auth =
      login === undefined
        ? request.auth()
        : { username: login.username.revealLatest(), password: login.password.revealLatest() }
    return readAnswer(await send(request, auth, dispatcher, withinMs))
  }
}

/** @throws AppError as a {@link RegistryExchange} does */
function readAnswer({ status, text }: { readonly status: number; readonly text: string }): object {
  // Retryable, because a password that is being rotated must not dead-letter messages.
  if (status === 401) throw unavailable('The schema registry', new RefusedError('login_refused', 'It answered 401'))
  const answer = parseObject(text)
  // A proxy before a starting registry answers with its own page, with status 404 or even 200.
  if (answer === undefined || status >= 500 || status === 429)
    throw unavailable('The schema registry', new Error(`It answered ${status}`))
  if (status >= 200 && status < 300) return answer
  if (status === 404 && !('error_code' in answer))
    throw unavailable('The schema registry', new Error('Its API is not at this URL'))
  throw new AppError(
    status === 404 ? 'not_found' : status === 409 ? 'conflict' : 'internal',
    `The schema registry refused with ${status}: ${'message' in answer ? answer.message : 'it gave no reason'}`,
  )
}

async function send(
  request: RegistryRequest,
  auth: ReturnType<RegistryRequest['auth']>,
  dispatcher: Agent,
  withinMs: number,
): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(withinMs)
  const init: HttpRequest = {
    dispatcher,
    method: request.method().toUpperCase(),
    headers: { accept: 'application/vnd.schemaregistry.v1+json', ...request.headers() },
    signal,
  }
  if (auth !== undefined) {
    const credentials = Buffer.from(`${auth.username}:${auth.password}`).toString('base64')
    init.headers = { ...init.headers, authorization: `Basic ${credentials}` }
  }
  const body = request.body()
  if (typeof body === 'string') init.body = body
  try {
    const response = await fetch(request.url(), init)
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = signal.aborted ? new Error(`No answer within ${withinMs / 1_000} s`) : error
    throw unavailable('The schema registry', cause)
  }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
