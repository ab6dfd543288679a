import type { DeliveryDocument, ReplayDocument } from '@backstop/contracts'

/** Has a delivery attempted now, if it still stands as it was read. */
export interface RequeueOrder {
  readonly deliveryId: string
  /** The command or replay that asks for it. */
  readonly requestId: string
  readonly attempt: number
  /** The attempt that it waits for; null for one that is dead. */
  readonly waitsFor: number | null
  /** The attempt that stands on the ladder's first rung, and from when its 72 hours count. */
  readonly ladderFrom: { readonly attempt: number; readonly at: Date }
  readonly atMs: number
}

/** What a requeued delivery says of itself. */
export const REQUEUED_TEXT = 'Asked for again; waiting for its attempt'

/** The part of `deliveries` that commands work on. */
export interface RequeueStore {
  find(deliveryId: string): Promise<DeliveryDocument | undefined>
  /** @returns the ids of those that have moved on; the same order again has not */
  requeue(orders: readonly RequeueOrder[]): Promise<ReadonlySet<string>>
  /** How many deliveries of a replay's window ended without success. */
  countDead(window: ReplayWindow): Promise<number>
  /** How many deliveries that the replay asked for still wait for their attempt; counts no further than `most`. */
  countWaiting(replayId: string, channelId: string, most: number): Promise<number>
  /**
   * The next deliveries of a replay behind its cursor, oldest first: dead ones, and those that it asked for itself just
   * before a crash.
   */
  nextOfReplay(replay: ReplayDocument, limit: number): Promise<readonly DeliveryDocument[]>
}

export type ReplayWindow = Pick<ReplayDocument, 'project_id' | 'channel_id' | 'from' | 'to'>

/** The only writer of `replays`. */
export interface ReplayStore {
  /** @returns whether it is new; one that is there stays as it is */
  begin(replay: ReplayDocument): Promise<boolean>
  /** A running replay whose next page is due; it is put off until `untilMs`, so that nobody else takes it meanwhile. */
  claim(nowMs: number, untilMs: number): Promise<ReplayDocument | undefined>
  /** Notes how far a replay is, if its cursor still stands as it was read. */
  advance(replay: ReplayDocument, progress: ReplayProgress): Promise<void>
}

export interface ReplayProgress {
  readonly cursor: ReplayDocument['cursor']
  readonly requeued: number
  readonly nextPageAtMs: number
  /** When it came to its end; null while it goes on. */
  readonly finishedAtMs: number | null
}
