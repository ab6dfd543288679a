import type { DeliveryDocument, ReplayDocument } from '@backstop/contracts'

/** Attempts a delivery now, unless it has changed since it was read. */
export interface RequeueOrder {
  readonly deliveryId: string
  /** The command or replay that requested the attempt. */
  readonly requestId: string
  readonly attempt: number
  /** The recorded next attempt; null for a dead delivery. */
  readonly waitsFor: number | null
  /** The number of the attempt on the first rung of the ladder, and the start of the ladder's 72 hours. */
  readonly ladderFrom: { readonly attempt: number; readonly at: Date }
  readonly atMs: number
}

/** The public reason of a requeued delivery. */
export const REQUEUED_TEXT = 'Asked for again; waiting for its attempt'

/** Replaces what was recorded about the attempts of an erased delivery, because receivers can repeat personal data in their answers. */
export const ERASED_TEXT = 'Erased together with personal data'

/** The alerts whose personal data is erased. */
export type ErasedAlerts =
  | { readonly connectionId: string }
  /**
   * The alerts about these actions, and reports of storms and bursts that name the customer, by one of these ids or as the request
   * `erasureId` does. `at`: from then on, messages about these actions are sent without the data.
   */
  | {
      readonly erasureId: string
      readonly actionIds: readonly string[]
      readonly customerIds: readonly string[]
      readonly at: Date
    }

export interface ErasureOfPerson {
  readonly id: string
  readonly projectId: string
}

/** The part of `deliveries` that commands change. */
export interface RequeueStore {
  find(deliveryId: string): Promise<DeliveryDocument | undefined>
  /** @returns the ids of deliveries that have changed; repeating an order is no change */
  requeue(orders: readonly RequeueOrder[]): Promise<ReadonlySet<string>>
  /**
   * Erases the personal data in the alerts about actions of a connection or a customer, and what their receivers answered.
   * @returns the number of changed deliveries
   */
  erasePersonalData(projectId: string, about: ErasedAlerts): Promise<number>
  /**
   * Adds to the number of deliveries that were erased for a person.
   * @param finishedAt null if more commands of the erasure follow
   */
  recordErasure(erasure: ErasureOfPerson, deliveries: number, finishedAt: Date | null): Promise<void>
  /** Counts the deliveries in a replay's window that ended without success, wait for a retry, or are overdue. */
  countFailed(window: ReplayWindow): Promise<number>
  /** Counts the deliveries requeued by the replay that still wait for their attempt, up to `most`. */
  countWaiting(replayId: string, channelId: string, most: number): Promise<number>
  /**
   * The next deliveries of a replay after its cursor, oldest first: dead deliveries, deliveries that wait for a retry,
   * deliveries that were overdue when it was requested, and deliveries that this replay requeued just before a crash.
   */
  nextOfReplay(replay: ReplayDocument, limit: number): Promise<readonly DeliveryDocument[]>
}

export type ReplayWindow = Pick<ReplayDocument, 'project_id' | 'channel_id' | 'from' | 'to' | 'requested_at'>

/** The only writer of `replays`. */
export interface ReplayStore {
  /** @returns true if the replay is new; an existing replay is unchanged */
  begin(replay: ReplayDocument): Promise<boolean>
  /**
   * Claims a running replay whose next page is due, and sets the next due time to `untilMs`, so that no other process
   * claims it meanwhile.
   */
  claim(nowMs: number, untilMs: number): Promise<ReplayDocument | undefined>
  /** Records the progress of a replay, unless its cursor has changed since it was read. */
  advance(replay: ReplayDocument, progress: ReplayProgress): Promise<void>
}

export interface ReplayProgress {
  readonly cursor: ReplayDocument['cursor']
  readonly requeued: number
  readonly nextPageAtMs: number
  /** When the replay ended; null while it runs. */
  readonly finishedAtMs: number | null
}
