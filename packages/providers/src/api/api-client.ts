import { randomUUID } from 'node:crypto'
import { parseRetryAfter } from '@backstop/contracts'
import { type Clock, sleep } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import type { Egress, EgressResponse } from '@backstop/kit/egress'
import type { ProviderHealth, ReaderOptions, ReadLimits } from '../read-back.ts'
import { type Failed, failed, failedRequest } from './failure.ts'
import { Pace, type ReadAdmission } from './pace.ts'

/** The conventions of one provider's API: headers, pages, error codes. */
export interface ApiDialect {
  /** The provider as the beginning of a sentence: `The processor`. */
  readonly name: string
  /** The headers with the key, and others that the API requires. */
  headers(key: Secret): Readonly<Record<string, string>>
  /** The error code in an error body; undefined if the body is not the provider's. */
  codeOf(body: unknown): unknown
  /** Codes of a 404 for a missing object. Any other 404 means that the request is wrong. */
  readonly missingCodes: ReadonlySet<string>
  /** Codes that mean "try again later", with any status. */
  readonly notNowCodes: ReadonlySet<string>
  /** The object in the answer to a request for one object. */
  objectIn(body: AnswerBody, type: string): unknown
  /** The parameters that request a page of a list. */
  pageQuery(page: string): Query
  /**
   * The items of a page and the start of the next page. `next` is null after the last page and undefined if the body lacks it.
   * @param type of the items
   */
  pageIn(body: AnswerBody, type: string): { readonly items: unknown; readonly next: unknown }
}

/** The JSON object of an answer. */
type AnswerBody = Readonly<Record<string, unknown>>

/** The time that a caller waits for all requests and retries of a read, and how they are sent. */
export interface Budget {
  /** Milliseconds since the epoch. */
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
  /**
   * retry: failed requests are retried. once: they are not; a sweep runs again later and does not hold a slot until then.
   * once_if_free: the request is not even sent if it would have to wait for the rate limit.
   */
  readonly effort: 'retry' | 'once' | 'once_if_free'
  /** Headers of these requests, in addition to those of every request. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The result of one request. */
export type ApiResult =
  | { readonly kind: 'answered'; readonly body: AnswerBody }
  /** The provider answered that the object does not exist. */
  | { readonly kind: 'missing' }
  | Failed

/** Parameters in order; null values are omitted. */
export type Query = Readonly<Record<string, string | number | null>>

/** Timeout of one request in milliseconds. It is shorter if the budget ends earlier. */
const REQUEST_TIMEOUT_MS = 15_000
/** The timeout if the provider did not answer the last request, or was never asked. */
const SHORT_TIMEOUT_MS = 5_000
/** A timeout shorter than this, because the budget ended, is not counted as a failure of the provider. In milliseconds. */
const LEAST_TIME_MS = 2_000
/** How early a timer may fire, in milliseconds. */
const TIMER_SLACK_MS = 10
/** After every fourth failure in a row one request gets the full timeout, because the provider may only be slow. */
const FULL_TIME_EVERY = 4
/** Enough for a page of a hundred objects of tens of kilobytes each. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
const FIRST_BACKOFF_MS = 250
const LONGEST_BACKOFF_MS = 30_000
/**
 * The longest time that a request waits for a rate limit, in milliseconds. If the wait would be longer, the request fails at
 * once, so that it does not occupy one of the concurrent requests.
 */
const LONGEST_WAIT_MS = 2_000
/** Upper limit for Retry-After, in milliseconds: a provider's mistake must not stop all reading for a year. */
const LONGEST_PAUSE_MS = 10 * 60_000
/** The temporary failures, which are retried within the budget. */
const TEMPORARY = new Set<Failed['failure']>(['rate_limited', 'provider_unavailable', 'unreachable'])

/**
 * Reads one provider's API with one key: within its rate limit, with retries within the caller's budget, through the guarded
 * egress. It never throws, and no result contains the key.
 */
export class ApiClient {
  readonly dialect: ApiDialect
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #key: Secret
  readonly #egress: Egress
  readonly #clock: Clock
  readonly #random: () => number
  readonly #pace: Pace
  readonly #health = { hasAnswered: false, failures: 0, last: undefined as Failed | undefined }
  /** The connection has its own socket pool, so that its slow provider uses no sockets of another connection. */
  readonly #lane = `read-back-${randomUUID()}`

  /** @param base the URL to which paths are appended, without a trailing slash */
  constructor(dialect: ApiDialect, base: string, options: ReaderOptions, limits: ReadLimits) {
    this.dialect = dialect
    this.#base = base
    this.#key = options.readKey
    this.#headers = {
      accept: 'application/json',
      // The egress does not decompress answers.
      'accept-encoding': 'identity',
      'user-agent': 'backstop',
      ...dialect.headers(options.readKey),
    }
    this.#egress = options.egress
    this.#clock = options.clock
    this.#random = options.random
    this.#pace = new Pace(limits, options.clock)
  }

  /**
   * Waits, unless the budget ends earlier.
   * @returns false without waiting if the budget ends earlier, or if the caller aborts
   */
  async wait(ms: number, { endsAt, signal }: Budget): Promise<boolean> {
    if (this.#clock.now() + ms >= endsAt) return false
    await sleep(this.#clock, ms, signal)
    return signal?.aborted !== true
  }

  /** Sends a GET request, with retries. @param path with encoded ids */
  async get(path: string, query: Query, budget: Budget): Promise<ApiResult> {
    const parameters = Object.entries(query).flatMap(([name, value]) => (value === null ? [] : [[name, String(value)]]))
    const url = `${this.#base}${path}${parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`}`
    let said: Failed | undefined
    for (;;) {
      const waitMs = budget.effort === 'once_if_free' ? this.#pace.waitMs() : this.#pace.pausedForMs()
      if (waitMs > (budget.effort === 'retry' ? LONGEST_WAIT_MS : 0))
        return said ?? this.#notAdmitted({ kind: 'too_late', waitMs })
      const admission = await this.#pace.enter(budget.endsAt, budget.signal)
      // Prefer the answer of an earlier attempt, because it tells the cause better than a timeout.
      if (admission.kind !== 'admitted') return said ?? this.#notAdmitted(admission)
      const { failures } = this.#health
      const begunAt = this.#clock.now()
      const timeoutMs = Math.min(this.#timeoutMs(), Math.max(1, budget.endsAt - begunAt))
      const answer = await this.#once(url, timeoutMs, budget)
      const hasFailed = answer.kind === 'failed' && TEMPORARY.has(answer.failure)
      // A request that was aborted, or whose budget was too short, is not a failure of the provider.
      const isCutShort = timeoutMs < LEAST_TIME_MS && this.#clock.now() - begunAt >= timeoutMs - TIMER_SLACK_MS
      // Recorded before `leave` admits the next request in the queue.
      if (!hasFailed) this.#noteAnswer()
      else if (budget.signal?.aborted !== true && !isCutShort) this.#backOff(answer, failures)
      admission.leave()
      if (!hasFailed) return answer
      if (answer.failure !== 'unreachable' || said === undefined) said = answer
      if (budget.effort !== 'retry' || this.#clock.now() >= budget.endsAt) return said
    }
  }

  get health(): ProviderHealth {
    const { hasAnswered, failures } = this.#health
    return failures > 0 ? 'failing' : hasAnswered ? 'answering' : 'untried'
  }

  #noteAnswer(): void {
    this.#health.hasAnswered = true
    this.#health.failures = 0
  }

  #notAdmitted(admission: Exclude<ReadAdmission, { kind: 'admitted' }>): Failed {
    const { name } = this.dialect
    if (admission.kind === 'aborted') return failed('unreachable', name, 'stopped')
    const { failures, last } = this.#health
    if (failures > 0 && last !== undefined) return { ...last, retryAfterMs: admission.waitMs }
    return failed('rate_limited', name, 'our own pace', admission.waitMs)
  }

  /**
   * Pauses all requests to this provider, twice as long after each failure in a row. Half of the pause is random, so that
   * callers that failed at the same time retry at different times. Simultaneous failures are counted once.
   * @param before the number of failures in a row when the request began
   */
  #backOff(answer: Failed, before: number): void {
    const health = this.#health
    if (health.failures === before) health.failures++
    health.last = answer
    const longestMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(health.failures - 1, 20), LONGEST_BACKOFF_MS)
    const askedMs = Math.min(answer.retryAfterMs ?? 0, LONGEST_PAUSE_MS)
    this.#pace.pauseFor(Math.max((longestMs * (1 + this.#random())) / 2, askedMs))
  }

  #timeoutMs(): number {
    const { failures } = this.#health
    const hasFullTime = this.health === 'answering' || (failures > 0 && failures % FULL_TIME_EVERY === 0)
    return hasFullTime ? REQUEST_TIMEOUT_MS : SHORT_TIMEOUT_MS
  }

  async #once(url: string, timeoutMs: number, { signal, headers }: Budget): Promise<ApiResult> {
    try {
      const response = await this.#egress.request({
        url,
        method: 'GET',
        headers: { ...this.#headers, ...headers },
        timeoutMs,
        ...(signal === undefined ? {} : { signal }),
        lane: this.#lane,
        maxBodyBytes: MAX_ANSWER_BYTES,
      })
      return this.#judge(response)
    } catch (error) {
      return failedRequest(error, this.dialect.name)
    }
  }

  #judge({ status, headers, body }: EgressResponse): ApiResult {
    const { name, codeOf, missingCodes, notNowCodes } = this.dialect
    const parsed = parseObject(body)
    if (status >= 200 && status < 300) {
      return parsed === undefined
        ? failed('answer_malformed', name, 'no JSON object')
        : { kind: 'answered', body: parsed }
    }
    const given = codeOf(parsed)
    const code = typeof given === 'string' ? given : ''
    const detail = this.#isSafeToShow(code) ? `${status} ${code}` : String(status)
    const retryAfterMs = parseRetryAfter(headers['retry-after'] ?? null, this.#clock.now())
    if (notNowCodes.has(code) || status >= 500) return failed('provider_unavailable', name, detail, retryAfterMs)
    if (status === 429) return failed('rate_limited', name, detail, retryAfterMs)
    if (status < 400) return failed('answer_malformed', name, detail)
    if (status === 401 || status === 403) return failed('key_refused', name, detail)
    if (status === 404 && missingCodes.has(code)) return { kind: 'missing' }
    return failed('question_refused', name, detail)
  }

  /** True if an error code may be shown. A hostile server could return our API key as its error code. */
  #isSafeToShow(code: string): boolean {
    const key = this.#key.reveal()
    return /^[a-z][a-z_]{1,63}$/.test(code) && !key.includes(code) && !code.includes(key)
  }
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
