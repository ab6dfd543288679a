import type { DeliveryAttempt, DeliveryDocument, EndedAddress } from '@backstop/contracts'

/** The part of a document that decides how messages are handled. */
export type StoredProgress = Pick<
  DeliveryDocument,
  'state' | 'reason' | 'created_at' | 'next_attempt' | 'ladder_from' | 'ended_addresses' | 'goes_alone' | 'digest_group'
> & { readonly attempts: readonly Pick<DeliveryAttempt, 'attempt' | 'at'>[] }

/** The recorded progress of a delivery. */
export interface DeliveryProgress {
  readonly state: 'pending' | 'delivered' | 'retrying' | 'dead' | 'superseded'
  readonly reason: string
  readonly createdAtMs: number
  /** True if a person or a replay requested an attempt that was not due. */
  readonly isRequeued: boolean
  /**
   * When the first attempt of the ladder began, or when a person restarted the ladder; null before the first attempt.
   */
  readonly firstAttemptAtMs: number | null
  /** When the recorded attempts on its ladder began, in their order. */
  readonly ladderAttemptsAtMs: readonly number[]
  /** The number of the last recorded attempt; 0 before the first. */
  readonly lastAttempt: number
  /** When the last recorded attempt began; null before the first. */
  readonly lastAttemptAtMs: number | null
  readonly next: { readonly attempt: number; readonly dueAtMs: number; readonly topic: string } | null
  /** The addresses of a mail channel that get no further mail; absent if there are none. */
  readonly endedAddresses?: readonly EndedAddress[]
  /** True if the delivery must not be part of a digest. */
  readonly goesAlone: boolean
  /** Waiting deliveries with the same group are sent as one digest; null if there is none. */
  readonly digestGroup: string | null
}

/** The state of a delivery after an attempt. It is written only if the recorded next attempt is still `attempt`. */
export interface RecordedOutcome {
  readonly deliveryId: string
  /** The number of the ended attempt. */
  readonly attempt: number
  /** The row to add to the delivery's attempts; null if no attempt was made. */
  readonly record: DeliveryAttempt | null
  readonly state: 'delivered' | 'retrying' | 'dead'
  /** The reason of the state, for a person. */
  readonly reason: string
  readonly next: DeliveryProgress['next']
  /** The id of the digest that contained the alert; absent if the alert was sent alone. */
  readonly coveredBy?: string
  /** Set if the delivery must not be part of a digest, because a digest with it was refused for its content. */
  readonly goesAlone?: true
  /** Set if the digest that contained the alert must be repeated: the deliveries with this group. */
  readonly digestGroup?: string
  /** The addresses of a mail channel that get no further mail after this attempt; absent if there are none. */
  readonly endedAddresses?: readonly EndedAddress[]
  readonly atMs: number
}

/** The only writer of `deliveries`. Every call is a fixed number of commands for any number of deliveries. */
export interface DeliveryStore {
  /** Inserts new deliveries. @returns the ids that existed already */
  insertNew(deliveries: readonly DeliveryDocument[]): Promise<ReadonlySet<string>>
  /** The recorded progress of the deliveries that exist. */
  progressOf(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, DeliveryProgress>>
  /**
   * Records each outcome whose attempt is the delivery's recorded next attempt: if two processes made the same attempt,
   * only one of them can record it. Recording the same outcome twice is no conflict.
   * @returns the ids of deliveries whose outcome was refused because they have changed
   */
  record(outcomes: readonly RecordedOutcome[]): Promise<ReadonlySet<string>>
  /**
   * Ends deliveries whose alert is part of a later message, unless they have changed since they were read.
   * @returns the ids of deliveries that have changed
   */
  supersede(orders: readonly SupersedeOrder[]): Promise<ReadonlySet<string>>
  /** The next deliveries of a channel that wait for an attempt, oldest first. */
  findWaiting(wanted: WaitingDeliveries): Promise<readonly DeliveryDocument[]>
  /** The deliveries of a failed digest that wait to be repeated together. */
  findDigest(digestId: string): Promise<readonly DeliveryDocument[]>
  /** Removes the delivered heartbeats created before this time. */
  removeHeartbeats(createdBefore: Date): Promise<void>
}

/** Selects deliveries of a channel that wait for an attempt. */
export interface WaitingDeliveries {
  readonly channelId: string
  /** Only deliveries created at this time or later, in milliseconds since the epoch. */
  readonly createdFromMs: number
  /** Only deliveries whose next attempt is due at this time or earlier, in milliseconds since the epoch. */
  readonly dueByMs: number
  /** Only deliveries after this one; null: from the start. */
  readonly after: Pick<DeliveryDocument, '_id' | 'created_at'> | null
  readonly limit: number
}

export interface SupersedeOrder {
  readonly deliveryId: string
  /** The delivery whose message contains both alerts. */
  readonly byId: string
  /** The recorded next attempt; null for a dead delivery. */
  readonly waitsFor: number | null
  readonly atMs: number
}

/** The public reason of a superseded delivery. */
export const SUPERSEDED_TEXT = 'A later message about the same incident or storm reports this too'

/** The document of a new delivery. */
export function newDelivery(
  request: {
    delivery_id: string
    project_id: string
    channel_id: string
    attempt: number
    test: boolean
    alert: DeliveryDocument['alert']
  },
  channelKind: DeliveryDocument['channel_kind'],
  nowMs: number,
): DeliveryDocument {
  const now = new Date(nowMs)
  return {
    _id: request.delivery_id,
    project_id: request.project_id,
    channel_id: request.channel_id,
    channel_kind: channelKind,
    alert_id: request.alert.alert_id,
    event: request.alert.event,
    test: request.test,
    state: 'pending',
    reason: 'Waiting for its first attempt',
    attempts: [],
    next_attempt: { attempt: request.attempt, due_at: now, topic: 'deliveries' },
    alert: request.alert,
    created_at: now,
    updated_at: now,
  }
}

/** The fields of a document that an outcome sets. */
export function fieldsOfOutcome({ state, reason, next, coveredBy, goesAlone, digestGroup, atMs }: RecordedOutcome) {
  return {
    state,
    reason,
    next_attempt: next === null ? null : { attempt: next.attempt, due_at: new Date(next.dueAtMs), topic: next.topic },
    updated_at: new Date(atMs),
    ...(coveredBy === undefined ? {} : { told_by: coveredBy }),
    ...(goesAlone === undefined ? {} : { goes_alone: goesAlone }),
    ...(digestGroup === undefined ? {} : { digest_group: digestGroup }),
  }
}

/** The document with the outcome of an attempt. */
export function withOutcome(document: DeliveryDocument, outcome: RecordedOutcome): DeliveryDocument {
  const { record, endedAddresses } = outcome
  return {
    ...document,
    ...fieldsOfOutcome(outcome),
    attempts: record === null ? document.attempts : [...document.attempts, record],
    ...(endedAddresses === undefined
      ? {}
      : { ended_addresses: [...(document.ended_addresses ?? []), ...endedAddresses] }),
  }
}

export function progressOf(document: StoredProgress): DeliveryProgress {
  const next = document.next_attempt
  const ladderFromAttempt = document.ladder_from?.attempt ?? 1
  // Restarting the ladder makes refused addresses eligible again, because a person may have fixed the cause.
  const endedAddresses = document.ended_addresses?.filter(
    one => one.end === 'taken' || one.attempt >= ladderFromAttempt,
  )
  return {
    state: document.state,
    reason: document.reason,
    createdAtMs: document.created_at.getTime(),
    isRequeued: document.ladder_from !== undefined,
    firstAttemptAtMs: (document.ladder_from?.at ?? document.attempts[0]?.at)?.getTime() ?? null,
    ladderAttemptsAtMs: document.attempts
      .filter(({ attempt }) => attempt >= ladderFromAttempt)
      .map(({ at }) => at.getTime()),
    lastAttempt: document.attempts.at(-1)?.attempt ?? 0,
    lastAttemptAtMs: document.attempts.at(-1)?.at.getTime() ?? null,
    next: next === null ? null : { attempt: next.attempt, dueAtMs: next.due_at.getTime(), topic: next.topic },
    goesAlone: document.goes_alone === true,
    digestGroup: document.digest_group ?? null,
    ...(endedAddresses === undefined ? {} : { endedAddresses }),
  }
}

/** True if the delivery shows exactly this outcome: the write succeeded, but its answer was lost. */
export function showsOutcome(
  document: Pick<StoredProgress, 'state' | 'reason' | 'attempts'>,
  outcome: RecordedOutcome,
): boolean {
  if (outcome.record === null) return document.state === outcome.state && document.reason === outcome.reason
  const { attempt, at } = outcome.record
  return document.attempts.some(row => row.attempt === attempt && row.at.getTime() === at.getTime())
}
