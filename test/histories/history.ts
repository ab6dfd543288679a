import type { BillerObject, BillerType } from './biller-api.ts'

/**
 * A history: events as a provider's documentation describes them, with the expected verdict of each refund and cancellation.
 * Histories are written from that documentation alone, and then played on the running product.
 */
export interface History {
  /** Describes what happens; unique. */
  readonly name: string
  /** `alert` when left out. */
  readonly outOfBand?: 'alert' | 'auto' | 'ignore'
  /** Posts and reports what happens, in this order. */
  play(shop: Shop): Promise<void>
  /**
   * Each refund and cancellation at the end, sorted: `refund re_1 explained`. A refund that is known only from its charge's total
   * is `refund of 700 unexplained`.
   */
  readonly verdicts: readonly string[]
  /** All alerts, sorted: `opened re_1`, `resolved re_1`, `drift`, each as often as it is sent. */
  readonly heard: readonly string[]
}

/** One connection in its own project, with everything that a history can do. */
export interface Shop {
  /** Unix time in seconds; the connection was made in an earlier second. */
  now(): number
  /** Posts an event as the provider signs it. */
  post(event: object): Promise<void>
  /** Reports an operation. @returns its id */
  report(operation: Record<string, unknown>): Promise<string>
  /** Reports a later state of an operation. */
  follow(operationId: string, transition: Record<string, unknown>): Promise<void>
  /** Creates an expected change. */
  expectChange(change: Record<string, unknown>): Promise<void>
  /** Changes the connection. */
  change(settings: Record<string, unknown>): Promise<void>
  /** Lets the provider's read API show an object. @throws if the connection has no read key */
  hold(type: BillerType, object: BillerObject): void
  /** Resolves when the refund or cancellation with this id is known. */
  seen(ref: string): Promise<unknown>
  /** Resolves when it is known and has had its second look, or needs none. */
  judged(ref: string): Promise<unknown>
}

/** An ISO 8601 time for a Unix time in seconds. */
export const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
