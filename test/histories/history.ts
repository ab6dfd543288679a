import type { BillerObject, BillerType } from './biller-api.ts'

/**
 * A test case: events as a provider's documentation describes them, with the expected verdict of each refund and cancellation.
 * All histories are written from the documentation, and not from the product's code.
 */
export interface History {
  /** A unique description of the events. */
  readonly name: string
  /** The setting of the connection; `alert` by default. */
  readonly outOfBand?: 'alert' | 'auto' | 'ignore'
  /** Posts the events and reports the operations, in their order. */
  play(shop: Shop): Promise<void>
  /**
   * The expected verdicts on all refunds and cancellations, sorted, e.g. `refund re_1 explained`. A refund that the product knows
   * only from the total of its charge is `refund of 700 unexplained`.
   */
  readonly verdicts: readonly string[]
  /** The expected alerts, sorted: `opened re_1`, `resolved re_1`, `drift`. An alert that is sent twice is listed twice. */
  readonly alerts: readonly string[]
  /** The expected other records, sorted, e.g. `pause`. Not compared if it is left out. */
  readonly others?: readonly string[]
  /** The expected summaries of incidents without their last clause, sorted. Not compared if they are left out. */
  readonly summaries?: readonly string[]
}

/** The result of a history, in its form. */
export type Outcome = Required<Pick<History, 'verdicts' | 'alerts' | 'others' | 'summaries'>>

/** A connection in its own project, with the steps that a history can take. */
export interface Shop {
  /** The present Unix time in seconds. The connection was created in an earlier second. */
  now(): number
  /** Posts an event, signed like the provider's events. */
  post(event: object): Promise<void>
  /** Reports an operation; a refund by default. @returns its id */
  report(operation: Record<string, unknown>): Promise<string>
  /** Reports a transition of an operation to another state. */
  reportTransition(operationId: string, transition: Record<string, unknown>): Promise<void>
  /** Creates an expected change. */
  expectChange(change: Record<string, unknown>): Promise<void>
  /** Changes settings of the connection. */
  change(settings: Record<string, unknown>): Promise<void>
  /** Adds an object to the provider's API, or replaces it. @throws Error if the connection has no read key */
  setApiObject(type: BillerType, object: BillerObject): void
  /** Resolves when the product has recorded the refund or cancellation with this id. */
  untilRecorded(ref: string): Promise<unknown>
  /** Resolves when the refund or cancellation with this id has a final verdict, after its second look if it needs one. */
  untilJudged(ref: string): Promise<unknown>
}

/** An ISO 8601 time for a Unix time in seconds. */
export const isoOf = (seconds: number): string => new Date(seconds * 1000).toISOString()
