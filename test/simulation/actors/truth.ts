/** A change that somebody made at a provider. The judge knows it; the product has to find out. */
export interface Deed {
  readonly projectId: string
  /** For people who read a failure. */
  readonly title: string
  /** The provider's id of the change. */
  readonly ref: string
  /** All names that an alert may use for it. */
  readonly names: readonly string[]
  /** When the provider carried it out, in milliseconds since the epoch. */
  readonly atMs: number
  /** Whether it alerts if nothing explains it. */
  readonly mustAlert: boolean
  /** When a report that explains it was sent first, and when the API acknowledged it; undefined while that did not happen. */
  reportBeganMs?: number
  reportedMs?: number
}

/** A message that a receiver took. */
export interface Received {
  readonly atMs: number
  readonly channel: string
  readonly webhookId: string
  readonly body: string
  /** False if the receiver took it and its answer was lost. */
  readonly isAnswered: boolean
}

/** Everything that happened in the world. */
export interface Truth {
  readonly deeds: Deed[]
  readonly received: Received[]
  /** Faults that the product must never show: a handler that threw, a process that gave up. */
  readonly wrongs: string[]
}
