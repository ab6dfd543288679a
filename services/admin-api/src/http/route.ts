/**
 * A route as data: its path, schemas, scope and handler. The server, the request checks and the OpenAPI document are all made from it, so
 * they cannot differ.
 */
import type { Writable } from 'node:stream'
import type { AuditDocument, AuditedField, ErrorCode, IdKind } from '@backstop/contracts'
import type { AppError } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import { z } from 'zod'
import type { CookieForm, CookieName } from '../access/cookies.ts'
import type { Identity, NeededScope, Principal } from '../access/rules/access.ts'
import type { RequestOrigin } from '../access/rules/same-origin.ts'
import type { AdminCollections } from '../store/stores.ts'
import type { ListCursors } from './cursor.ts'
import { etagOf } from './if-match.ts'

/** The HTTP methods of the API. */
export type Method = 'get' | 'post' | 'patch' | 'delete'

/** The request that a handler gets. Every part is already checked. */
export interface RouteRequest<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The key or person that calls. Every query is limited to its projects (access/rules/access.ts). */
  readonly principal: Principal
  readonly client: RequestClient
  /** The If-Match header, for routes that honour it. */
  readonly ifMatch: string | undefined
  /** The cursors of this list, for the filters of this request. */
  readonly cursors: ListCursors
  readonly now: Date
  /** Makes an id. A repeat under the same Idempotency-Key gets the same id, also after a crash. */
  newId(kind: IdKind): string
  /**
   * Makes the decision of a request whose change is not in this database. It is stored before the change, so a repeat under the same
   * Idempotency-Key gets it, whatever the first attempt has changed. Once in a request; the result has no secrets.
   * @throws what `decide` throws. Then nothing is stored
   */
  decideOnce<T extends object>(decide: () => Promise<T>): Promise<T>
  /**
   * Changes documents of this API and writes the audit row in the same transaction. If the transaction fails, nothing is changed and the
   * caller may retry, so a secret that is shown once is never lost with a change.
   * @param write reads and writes only the given collections; it may run several times. `doneAt` is the time of the first attempt if this
   *   request repeats one whose change was committed and whose answer was lost
   * @param describeChange returns the content of the audit row, or of several; undefined if nothing was changed
   * @throws AppError `unavailable`; any error of `write`. In each case nothing was changed.
   */
  change<T>(
    write: (collections: AdminCollections, doneAt: Date | undefined) => Promise<T>,
    describeChange: (
      written: T,
      changes: readonly AuditedField[],
    ) => AuditedChange | readonly AuditedChange[] | undefined,
  ): Promise<T>
  /** Makes the signed audit row of a change that the ledger makes. The ledger stores both together. */
  auditRow(change: AuditedChange): AuditDocument
  /** The one of these media types that the Accept header prefers; undefined if it accepts none. */
  accepts(types: readonly string[]): string | undefined
  /** The Last-Event-ID header, for streams of events. */
  readonly lastEventId: string | undefined
  /**
   * Authenticates the caller again and checks the scope, for answers that take long.
   * @throws AppError `unauthenticated`, `forbidden`; `unavailable` if the keys cannot be read
   */
  authorize(): Promise<Principal>
  /** Aborted when the caller disconnects or the process stops. */
  readonly signal: AbortSignal
  /** Identifies this request in the log and in its answer. */
  readonly requestId: string
  /** For events that an operator needs in addition to the log line of the request. */
  readonly logger: Logger
}

/** The program that sends a request, for routes that sign people in and out. */
export interface RequestClient extends RequestOrigin {
  /** Null after the connection closed. */
  readonly address: string | null
  readonly userAgent: string | null
  /** The form of the cookies that the answer may set. */
  readonly cookieForm: CookieForm
  cookie(name: CookieName): string | undefined
}

/** The author of a change: the principal, or the holder of a link of a mail, which has no account. */
interface AuditedIdentity extends Pick<Identity, 'id' | 'name' | 'sessionId'> {
  readonly kind: Identity['kind'] | 'mail_link'
}

/** A change, as its audit row describes it. */
export interface AuditedChange {
  /** Who made the change, if it is not the principal of the request: the route signs somebody in. */
  readonly actor?: AuditedIdentity
  readonly action: string
  readonly target: string
  /** The changed fields. Default: those that `RouteRequest.change` wrote. */
  readonly changes?: readonly AuditedField[]
  readonly projectId: string | null
  /** The id of its row, if a repeat must not add another one. Default: a new id. */
  readonly rowId?: string
}

/** The answer of a route. At most one of `body`, `html`, `text`, `serialized` and `stream` is set. */
export interface RouteAnswer {
  readonly status: number
  readonly body?: unknown
  /** A page in place of `body`. */
  readonly html?: string
  /** Plain text in place of `body`. */
  readonly text?: string
  /** Serialized JSON in place of `body`, made once for all answers. */
  readonly serialized?: Buffer
  /** Writes and ends the answer, in place of `body`. An error that is thrown before the first byte is answered as a problem. */
  readonly stream?: (out: Writable) => Promise<void>
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** The refusal that `html` explains to a person, for the log and the audit. Other refusals are thrown. */
  readonly refusal?: AppError
  /**
   * A change that another service or the ledger has made, for its audit row. Undefined if nothing changed, or if the row was stored with the change
   * (`RouteRequest.change`, `RouteRequest.auditRow`).
   */
  readonly changed?: AuditedChange
}

/** An answer in the OpenAPI document. */
interface AnswerDescription {
  readonly description: string
  /** Media type, if it is not JSON. */
  readonly mediaType?: string
  /** Media types of text that the route may answer in place of JSON. */
  readonly otherMediaTypes?: readonly string[]
  readonly schema?: z.ZodType
  /** Fields that only the first answer shows. A repeat under the same Idempotency-Key omits them. */
  readonly shownOnce?: readonly string[]
}

/** One route of the API. */
export interface Route {
  readonly method: Method
  /** In the syntax of OpenAPI: /v1/projects/{id} */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The required scope; `public` if the route needs no key or session. */
  readonly scope: NeededScope | 'public'
  readonly params: z.ZodObject
  /** Unknown parameters are refused, unless it is a `looseObject`. */
  readonly query: z.ZodObject
  readonly body: z.ZodType | undefined
  /**
   * `text`: any media type, because the caller was not written for this API. `ignored`: the body is not read. `none`: no body, or an
   * empty object, which some clients always send.
   */
  readonly bodyForm: 'json' | 'text' | 'ignored' | 'none'
  readonly maxBodyBytes: number
  /** False if every field of the body is optional; then the body is optional too. */
  readonly needsBody: boolean
  /** Answers by status code. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
  /** Error codes of this route, in addition to those of every route. */
  readonly refusals: readonly ErrorCode[]
  readonly honoursIfMatch: boolean
  /**
   * Checks a credential in the path before any byte of the body is read.
   * @throws AppError
   */
  checkCredential(params: never): void
  handle(request: RouteRequest<never, never, never>): Promise<RouteAnswer>
}

/** As large as the body of a notification, and far larger than any request of the management API. */
const MAX_BODY_BYTES = 1_048_576

/** Limit for routes without a body: enough for an empty object. */
const MAX_NO_BODY_BYTES = 1_024

/** The names in braces of a path. */
type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathNames<Rest>
  : never

/** The schema of the parameters that a path names: each is a text. */
export type PathParams<Path extends string> = z.ZodObject<{ [Name in PathNames<Path>]: z.ZodString }>

function pathParamsOf(path: string): z.ZodObject {
  return z.object(Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, z.string()])))
}

/** What a route with defaults leaves out. */
type Defaulted = 'path' | 'params' | 'query' | 'body' | 'bodyForm' | 'maxBodyBytes' | 'needsBody' | 'checkCredential'

interface RouteInput<Path extends string, P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>
  extends Omit<Route, Defaulted | 'handle' | 'refusals' | 'honoursIfMatch'> {
  readonly path: Path
  /** Default: a text for each name in the path. */
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Default: follows from `body` and `scope`. */
  readonly bodyForm?: Route['bodyForm']
  readonly maxBodyBytes?: number
  /** Added by itself: `not_found` if the path has a parameter, and the refusals of `honoursIfMatch`. */
  readonly refusals?: readonly ErrorCode[]
  readonly honoursIfMatch?: boolean
  checkCredential?(params: z.output<P>): void
  handle(request: RouteRequest<z.output<P>, z.output<Q>, z.output<B>>): Promise<RouteAnswer>
}

/** Defines a route: derives the handler's types from the path and the schemas, and adds defaults. */
export function defineRoute<
  const Path extends string,
  P extends z.ZodObject = PathParams<Path>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
>(input: RouteInput<Path, P, Q, B>): Route {
  const bodyForm = input.bodyForm ?? bodyFormOf(input)
  return {
    ...input,
    params: input.params ?? pathParamsOf(input.path),
    query: input.query ?? z.object({}),
    body: input.body,
    bodyForm,
    maxBodyBytes: input.maxBodyBytes ?? (bodyForm === 'none' ? MAX_NO_BODY_BYTES : MAX_BODY_BYTES),
    needsBody: input.body !== undefined && !input.body.safeParse({}).success,
    refusals: refusalsOf(input),
    honoursIfMatch: input.honoursIfMatch ?? false,
    checkCredential: params => input.checkCredential?.(params),
    handle: request => input.handle(request),
  }
}

function refusalsOf({
  method,
  path,
  scope,
  honoursIfMatch = false,
  refusals = [],
}: Pick<Route, 'method' | 'path' | 'scope'> & Partial<Pick<Route, 'honoursIfMatch' | 'refusals'>>): ErrorCode[] {
  const isAboutResource = scope !== 'public' && path.includes('{')
  const isChange = honoursIfMatch && method !== 'post'
  return [
    ...(isAboutResource ? (['not_found'] as const) : []),
    ...refusals,
    ...(honoursIfMatch ? (['precondition_failed'] as const) : []),
    ...(isChange ? (['conflict'] as const) : []),
  ]
}

function bodyFormOf({ body, scope }: { readonly body?: z.ZodType; readonly scope: Route['scope'] }): Route['bodyForm'] {
  if (body !== undefined) return 'json'
  // Bodies of public routes are not read, so callers without a key use none of the memory for bodies.
  return scope === 'public' ? 'ignored' : 'none'
}

/** The answer with a versioned resource, whose version is the ETag. */
export function versionedAnswer<Body extends { readonly version: number }>(status: 200 | 201, body: Body): RouteAnswer {
  return { status, body, headers: { etag: etagOf(body.version) } }
}
