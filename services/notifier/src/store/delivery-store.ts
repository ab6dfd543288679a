import type { DeliveryDocument, EndedAddress } from '@backstop/contracts'
import type { AttemptOutcome } from '../delivery/rules/outcome-of-attempt.ts'

/** What is recorded of a delivery so far. */
export interface DeliveryProgress {
  readonly state: 'pending' | 'delivered' | 'retrying' | 'dead' | 'superseded'
  readonly reason: string
  /** When the first attempt of its ladder began, or a person had the ladder begin anew; null before. */
  readonly firstAttemptAtMs: number | null
  /** The number of that attempt. */
  readonly ladderFromAttempt: number
  /** The number of the last attempt that is recorded; 0 before. */
  readonly lastAttempt: number
  /** When that one began; null before. */
  readonly lastAttemptAtMs: number | null
  readonly next: { readonly attempt: number; readonly dueAtMs: number; readonly topic: string } | null
  /** The addresses of a mail channel that are not written to again; absent where there are none. */
  readonly endedAddresses?: readonly EndedAddress[]
  /** Whether it is told in no digest. */
  readonly goesAlone: boolean
}

/** The only writer of `deliveries`. Every call is a fixed number of commands, however many deliveries it is given. */
export interface DeliveryStore {
  /** Inserts those that are new. @returns the ids that were there already */
  open(deliveries: readonly DeliveryDocument[]): Promise<ReadonlySet<string>>
  /** What is recorded of those that exist. */
  progressOf(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, DeliveryProgress>>
  /**
   * Records each outcome if its attempt is the delivery's next one (R4.4): two processes that made the same attempt
   * cannot both record it. Recording the same outcome twice is no conflict.
   * @returns the ids of those that were not recorded, because the delivery has moved on
   */
  record(outcomes: readonly AttemptOutcome[]): Promise<ReadonlySet<string>>
  /**
   * Ends deliveries that a later message tells as well, if they still stand as they were read.
   * @returns the ids of those that have moved on
   */
  supersede(orders: readonly SupersedeOrder[]): Promise<ReadonlySet<string>>
}

export interface SupersedeOrder {
  readonly deliveryId: string
  /** The delivery that tells it. */
  readonly byId: string
  /** The attempt that it waits for; null for one that is dead. */
  readonly waitsFor: number | null
  readonly atMs: number
}

/** What a superseded delivery says of itself. */
export const SUPERSEDED_TEXT =
  'The incident was resolved before this arrived; the message about the resolution reports both'

/** The document of a delivery whose first message has come. */
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

/** What of a document decides about messages. */
export function progressOf(
  document: Pick<
    DeliveryDocument,
    'state' | 'reason' | 'next_attempt' | 'ladder_from' | 'ended_addresses' | 'goes_alone'
  > & {
    attempts: readonly { attempt: number; at: Date }[]
  },
): DeliveryProgress {
  const next = document.next_attempt
  const ladderFromAttempt = document.ladder_from?.attempt ?? 1
  // Whoever has the ladder begin anew may have mended what an address was refused for.
  const endedAddresses = document.ended_addresses?.filter(
    one => one.end === 'taken' || one.attempt >= ladderFromAttempt,
  )
  return {
    state: document.state,
    reason: document.reason,
    firstAttemptAtMs: (document.ladder_from?.at ?? document.attempts[0]?.at)?.getTime() ?? null,
    ladderFromAttempt,
    lastAttempt: document.attempts.at(-1)?.attempt ?? 0,
    lastAttemptAtMs: document.attempts.at(-1)?.at.getTime() ?? null,
    next: next === null ? null : { attempt: next.attempt, dueAtMs: next.due_at.getTime(), topic: next.topic },
    goesAlone: document.goes_alone === true,
    ...(endedAddresses === undefined ? {} : { endedAddresses }),
  }
}

/** Whether a delivery shows this very outcome: its write was done, only its answer was lost. */
export function showsOutcome(
  document: Pick<DeliveryDocument, 'state' | 'reason'> & { attempts: readonly { attempt: number; at: Date }[] },
  outcome: AttemptOutcome,
): boolean {
  if (outcome.record === null) return document.state === outcome.state && document.reason === outcome.reason
  const { attempt, at } = outcome.record
  return document.attempts.some(row => row.attempt === attempt && row.at.getTime() === at.getTime())
}
