/** What the reporter knows about the official library of a provider. */

/** A refund or cancellation, as a request and its answer show it. */
export interface ProviderCall {
  readonly kind: 'refund' | 'cancellation'
  /** The payment or subscription. */
  readonly subject: string
  /** Minor units; undefined if the request does not say it, for example to refund all that is left. */
  readonly amount?: number | undefined
  readonly currency?: string | undefined
}

/** What the provider answered. */
export interface CallOutcome {
  readonly state: 'completed' | 'awaiting_review' | 'failed' | 'rejected'
  /** The provider's id of the refund or cancellation. */
  readonly providerRef?: string | undefined
}

/** A request that can refund or cancel. */
export interface Route {
  /** The method of the library that makes the request, e.g. `refunds.create`. */
  readonly name: string
  readonly verb: 'POST' | 'DELETE'
  /** The path without the query. The first group is the id in it. */
  readonly path: RegExp
  /**
   * Reads what a request does; undefined if it neither refunds nor cancels, and `in_answer` if only the answer shows it. Such a
   * request is reported after its answer.
   * @param params the parameters as the provider reads them: the values of a form are texts
   * @param answer absent before the answer
   */
  read(id: string, params: unknown, answer?: unknown): ProviderCall | 'in_answer' | undefined
  readOutcome(answer: unknown): CallOutcome
  /**
   * How the provider recognises a repeat of a request, so that both are one operation: by its idempotency key, by its path (a
   * subscription is cancelled once), or not at all.
   */
  readonly idempotentBy: 'key' | 'path' | 'nothing'
}

/** A request that a library is about to send. */
export interface SentRequest {
  readonly params: unknown
  /** The account that the request names, if it names one. */
  readonly account?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** Adds an idempotency key to the request. */
  addKey?(key: string): void
}

/** One request that is reported. None of its functions throws. `requestId` is the id under which the provider answered it. */
export interface ReportedRequest {
  /** Resolves when the request may be sent. */
  readonly mayBeSent: Promise<void>
  succeed(answer: unknown, requestId?: string): void
  fail(failure: Failure, requestId?: string): void
  /** Runs code that reads an answer. Its error is a problem of the reporter, and not of the call. */
  tryToRead(work: () => void): void
}

/** Reports requests. None of its functions throws. */
export interface Recorder {
  /**
   * Reports a request before it is sent.
   * @param path with or without a query
   * @param read reads the request. It is called only for requests that can refund or cancel
   * @returns undefined if the request is not reported
   */
  begin(verb: string, path: string, read: () => SentRequest): ReportedRequest | undefined
  /** True if requests of this kind can refund or cancel. */
  isWatched(verb: string, path: string): boolean
}

/** The official library of a provider. */
export interface Sdk {
  readonly name: string
  readonly routes: readonly Route[]
  /** True if an object is a client of this library whose requests can be watched. */
  recognises(client: object): boolean
  /** Shows each request of the client to the recorder, at the place where the library sends it. @returns a function that ends it */
  watchRequests(client: object, recorder: Recorder): () => void
}

/** The value at a path of names and indexes, e.g. `refunds.0.refund`. */
export function valueAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (inner === null || inner === undefined ? undefined : Reflect.get(Object(inner), name)),
      value,
    )
}

/** The text at a path; undefined if there is none. */
export function textAt(value: unknown, path: string): string | undefined {
  const found = valueAt(value, path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** An amount in minor units at a path, also as a text; undefined if there is none. */
export function amountAt(value: unknown, path: string): number | undefined {
  const found = valueAt(value, path)
  const amount = typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : found
  return typeof amount === 'number' && Number.isSafeInteger(amount) && amount >= 0 ? amount : undefined
}

/** The id at a path, or the id of the whole object at that path. */
export function idAt(value: unknown, path: string): string | undefined {
  return textAt(value, path) ?? textAt(value, `${path}.id`)
}

/** The text of a header, whose name may be spelled in any case. */
export function headerAt(headers: object, name: string): string | undefined {
  const spelled = Object.keys(headers).find(other => other.toLowerCase() === name.toLowerCase())
  return spelled === undefined ? undefined : textAt(headers, spelled)
}

/** The fields of a form by their whole names, e.g. `transaction[amount]`. */
export function formFields(...forms: readonly unknown[]): Readonly<Record<string, string>> {
  return Object.fromEntries(forms.flatMap(form => (typeof form === 'string' ? [...new URLSearchParams(form)] : [])))
}

/** Shows what a method of an answer returns when the library calls it next. */
export function onNextResult<T extends object>(
  answer: T,
  method: keyof T & string,
  reported: ReportedRequest,
  onValue: (value: unknown) => void,
  requestId?: string,
): void {
  const own = Object.getOwnPropertyDescriptor(answer, method)
  const original = answer[method] as (...args: unknown[]) => Promise<unknown>
  const replacement = async (...args: unknown[]) => {
    if (own === undefined) Reflect.deleteProperty(answer, method)
    else Object.defineProperty(answer, method, own)
    let value: unknown
    try {
      value = await original.apply(answer, args)
    } catch (error) {
      reported.fail(failureOfError(error), requestId)
      throw error
    }
    reported.tryToRead(() => onValue(value))
    return value
  }
  Object.defineProperty(answer, method, { value: replacement, configurable: true, writable: true })
}

/**
 * A stand-in for an HTTP client that differs in one function. The HTTP client itself is left as it is, because several clients may
 * share it.
 */
export function withFunction<T extends object>(of: T, name: string, replacement: (...args: never[]) => unknown): T {
  return new Proxy(Object.create(Object.getPrototypeOf(of)), {
    get(_, key) {
      if (key === name) return replacement
      const value = Reflect.get(of, key)
      return typeof value === 'function' ? value.bind(of) : value
    },
    set: (_, key, value) => Reflect.set(of, key, value),
    has: (_, key) => Reflect.has(of, key),
  })
}

/** Statuses of temporary failures. After any of them the same call may still succeed, or may have succeeded. */
const TEMPORARY = new Set([408, 409, 425, 429])

/** What a failed request says about the refund or cancellation. */
export interface Failure {
  /** True if the provider refused the request, so that a repeat would fail too. Otherwise it may have been executed. */
  readonly isRefusal: boolean
  readonly reason: string
}

/** The failure of a request that was answered with an error. */
export function failureOfAnswer(status: number, message: string | undefined): Failure {
  return { isRefusal: isRefused(status), reason: (message ?? `HTTP ${status}`).slice(0, 500) }
}

/** The failure of a request without a readable answer. */
export function failureOfError(error: unknown): Failure {
  return { isRefusal: false, reason: (error instanceof Error ? error.message : String(error)).slice(0, 500) }
}

export function isRefused(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status)
}
