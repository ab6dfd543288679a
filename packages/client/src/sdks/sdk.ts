/** What the reporter knows about the official library of a provider. */

/** A refund or cancellation, as the arguments and the answer of a call show it. */
export interface ProviderCall {
  readonly kind: 'refund' | 'cancellation'
  /** The payment or subscription. */
  readonly subject: string
  /** Minor units; undefined if the call does not say it, for example to refund all that is left. */
  readonly amount?: number | undefined
  readonly currency?: string | undefined
}

/** What the provider answered. */
export interface Outcome {
  readonly state: 'completed' | 'awaiting_review' | 'failed' | 'rejected'
  /** The provider's id of the refund or cancellation. */
  readonly providerRef?: string | undefined
}

/** A method of the library that can refund or cancel. */
export interface WatchedMethod {
  /** Its path in the library, e.g. `refunds.create`. */
  readonly path: string
  /**
   * Reads what a call does; undefined if it neither refunds nor cancels.
   * @param answer absent before the call. A call that only its answer shows to be a refund or cancellation is reported after it
   */
  read(args: readonly unknown[], answer?: unknown): ProviderCall | undefined
  readOutcome(answer: unknown): Outcome
  /** Absent if the provider ignores idempotency keys of this method. */
  readonly idempotency?: Idempotency
}

/** Where the arguments of a call have its idempotency key. */
export interface Idempotency {
  keyOf(args: readonly unknown[]): string | undefined
  /** Adds a key. @returns undefined if the arguments have no place for it */
  withKey(args: readonly unknown[], key: string): readonly unknown[] | undefined
}

/** The official library of a provider. */
export interface Sdk {
  readonly name: string
  /** True if an object is a client of this library. */
  recognises(client: object): boolean
  readonly methods: readonly WatchedMethod[]
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

/** An amount in minor units at a path; undefined if there is none. */
export function amountAt(value: unknown, path: string): number | undefined {
  const found = valueAt(value, path)
  return typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : undefined
}

/** The id at a path, or the id of the whole object at that path. */
export function idAt(value: unknown, path: string): string | undefined {
  return textAt(value, path) ?? textAt(value, `${path}.id`)
}
