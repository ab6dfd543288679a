import type { Problem } from './generated/api.ts'

/** A refused call. `code` is one of the API's error codes, or `unknown` if something else answered, such as a proxy. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly code: Problem['code'] | 'unknown'
  readonly title: string
  /** What was wrong, and what to do. */
  readonly detail: string
  /** Each refused field; empty if the problem is not about fields. */
  readonly errors: NonNullable<Problem['errors']>
  /** Identifies the request in the log of the server. */
  readonly request_id: string | undefined
  /** The whole answer, with the fields that only some problems have. */
  readonly problem: Partial<Problem>
  /** Milliseconds to wait before a retry, if the answer says so. */
  readonly retryAfterMs: number | undefined

  constructor(status: number, problem: Partial<Problem>, retryAfterMs?: number) {
    const detail = problem.detail ?? `The server answered ${status} without a problem document`
    super(detail)
    this.status = status
    this.code = problem.code ?? 'unknown'
    this.title = problem.title ?? 'Unknown problem'
    this.detail = detail
    this.errors = problem.errors ?? []
    this.request_id = problem.request_id
    this.problem = problem
    this.retryAfterMs = retryAfterMs
  }
}

/** No answer: the server cannot be reached, the connection broke, or the call took longer than `timeoutMs`. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Reads the problem of an answer. */
export async function readProblem(response: Response, nowMs: number): Promise<ApiProblem> {
  const problem = await response.json().catch(() => undefined)
  const isProblem = typeof problem === 'object' && problem !== null && 'code' in problem
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), nowMs)
  return new ApiProblem(response.status, isProblem ? (problem as Problem) : {}, retryAfterMs)
}

/** Reads the wait of a Retry-After header: seconds or an HTTP date. */
function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000
  const atMs = Date.parse(header)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
