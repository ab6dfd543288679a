/**
 * A route as data: path, schemas, scope and handler in one place. The server is mounted from it, requests are checked by
 * it, and the OpenAPI document is printed from it, so that none of the three can differ from the others.
 */
import type { ErrorCode, IdKind, Scope } from '@backstop/contracts'
import type { Logger } from '@backstop/kit'
import { z } from 'zod'
import type { Principal } from '../access/rules/access.ts'
import type { AdminShelves } from '../store/stores.ts'

/** The HTTP methods of the API. */
export type Method = 'get' | 'post' | 'patch' | 'delete'

/** What a handler is given: everything checked, nothing raw. */
export interface RouteRequest<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  /** The key that asks. Every query is narrowed by its project (access/rules/access.ts). */
  readonly principal: Principal
  /** If-Match as it came, for routes that honour it. */
  readonly ifMatch: string | undefined
  readonly now: Date
  /** A new id. A repeat under the same Idempotency-Key, after a crash, gets the same one again. */
  newId(kind: IdKind): string
  /**
   * Changes what this API keeps, together with the audit row: both stand, or neither does and the caller may try again. So
   * nothing is changed that its caller does not hear of, such as a secret that is shown once.
   * @param write reads and writes the shelves it is given, and nothing else: it may be run again from its beginning
   * @param toldAs what the audit row says of it
   * @throws AppError `unavailable`; whatever `write` throws, and then nothing is changed either
   */
  change<T>(write: (shelves: AdminShelves) => Promise<T>, toldAs: (written: T) => Changed): Promise<T>
  /** Aborted when the caller has gone, or the process stops. */
  readonly signal: AbortSignal
  /** Names this request in the log and in its answer. */
  readonly requestId: string
  /** For what an operator would ask about beyond the line that every request leaves. */
  readonly logger: Logger
}

/** What was changed, as its audit row tells it. */
export interface Changed {
  readonly action: string
  readonly target: string
  readonly projectId: string | null
}

/** The answer of a route. At most one of `body`, `html`, `text` and `printed` is set. */
export interface RouteAnswer {
  readonly status: number
  readonly body?: unknown
  /** A page in place of `body`. */
  readonly html?: string
  /** Plain text in place of `body`. */
  readonly text?: string
  /** JSON in place of `body`, printed once for all answers. */
  readonly printed?: Buffer
  readonly headers?: Readonly<Record<string, string>>
  /**
   * What was changed elsewhere, in the ledger's books or by a command, for the audit row; absent when nothing was, and where
   * `RouteRequest.change` wrote it.
   */
  readonly changed?: Changed
}

/** An answer in the OpenAPI document. */
export interface AnswerDescription {
  readonly description: string
  /** Of an answer that is no JSON. */
  readonly mediaType?: string
  readonly schema?: z.ZodType
  /** Fields of the answer that are shown once: a repeat under the same Idempotency-Key leaves them out. */
  readonly shownOnce?: readonly string[]
}

/** One route of the API. */
export interface Route {
  readonly method: Method
  /** As OpenAPI writes it: /v1/projects/{id} */
  readonly path: string
  readonly operationId: string
  readonly tag: string
  readonly summary: string
  readonly description?: string
  /** The scope that it takes; `public` for what needs no key. */
  readonly scope: Scope | 'public'
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | undefined
  /**
   * `text`: of any type, from callers that were not written for this API. `ignored`: not even read. `none`: nothing but an
   * empty object, which some clients always send.
   */
  readonly bodyForm: 'json' | 'text' | 'ignored' | 'none'
  readonly maxBodyBytes: number
  /** False where everything in the body may be left out: then so may the body. */
  readonly needsBody: boolean
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDescription>>
  /** Refusals of its own, beside those that any route may give. */
  readonly refusals: readonly ErrorCode[]
  readonly honoursIfMatch: boolean
  /**
   * Refuses by the path alone, before a byte of the body is read: where the path holds the credential.
   * @throws AppError
   */
  admit(params: never): void
  handle(request: RouteRequest<never, never, never>): Promise<RouteAnswer>
}

/** As much as a notification may hold; far more than any request of the management API. */
const MAX_BODY_BYTES = 1_048_576

/** What is read where no body is taken: enough for an empty object. */
const MAX_NO_BODY_BYTES = 1_024

const NOTHING = z.object({})

type RouteInput<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = Omit<
  Route,
  | 'params'
  | 'query'
  | 'body'
  | 'bodyForm'
  | 'maxBodyBytes'
  | 'needsBody'
  | 'admit'
  | 'handle'
  | 'refusals'
  | 'honoursIfMatch'
> & {
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  /** Left out, it follows from `body` and `scope`. */
  readonly bodyForm?: Route['bodyForm']
  readonly maxBodyBytes?: number
  readonly refusals?: readonly ErrorCode[]
  readonly honoursIfMatch?: boolean
  admit?(params: z.output<P>): void
  handle(request: RouteRequest<z.output<P>, z.output<Q>, z.output<B>>): Promise<RouteAnswer>
}

/** Types a route's handler by its schemas, and fills in what it leaves out. */
export function defineRoute<
  P extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Q extends z.ZodObject = z.ZodObject<Record<never, never>>,
  B extends z.ZodType = z.ZodUndefined,
>(input: RouteInput<P, Q, B>): Route {
  const bodyForm = input.bodyForm ?? formOf(input)
  return {
    ...input,
    params: input.params ?? NOTHING,
    query: input.query ?? NOTHING,
    body: input.body,
    bodyForm,
    maxBodyBytes: input.maxBodyBytes ?? (bodyForm === 'none' ? MAX_NO_BODY_BYTES : MAX_BODY_BYTES),
    needsBody: input.body !== undefined && !input.body.safeParse({}).success,
    refusals: input.refusals ?? [],
    honoursIfMatch: input.honoursIfMatch ?? false,
    admit: params => input.admit?.(params),
    handle: request => input.handle(request),
  }
}

function formOf({ body, scope }: { readonly body?: z.ZodType; readonly scope: Route['scope'] }): Route['bodyForm'] {
  if (body !== undefined) return 'json'
  // Without a key nobody takes a byte of what all bodies share.
  return scope === 'public' ? 'ignored' : 'none'
}
