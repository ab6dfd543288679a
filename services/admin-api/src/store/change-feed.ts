import type { CollectionName } from '@backstop/contracts'

/** The collections whose changes are read. */
export const WATCHED_COLLECTIONS = [
  'incidents',
  'storm_members',
  'actions',
  'deliveries',
  'connections',
  'channels',
  'channel_health',
] as const satisfies readonly CollectionName[]

/** One changed document. It is not part of the change: an old change may contain personal data that was erased since. */
export interface StoredChange {
  /** Where the change is in the order of all changes. Positions are compared as text. */
  readonly position: string
  readonly collection: (typeof WATCHED_COLLECTIONS)[number]
  readonly id: string
}

/** Reads changes one after the other. */
export interface ChangeCursor {
  /** Every change up to this position was returned. It also grows while other collections change. */
  readonly position: string
  /**
   * The next changes in their order; empty if there is none within a short time.
   * @throws PositionLost; AppError `unavailable`
   */
  next(): Promise<readonly StoredChange[]>
  close(): Promise<void>
}

/** The changes of the database, in the order in which they were stored. All replicas see the same order and positions. */
export interface ChangeFeed {
  /**
   * @param after the position to continue after; undefined for the present
   * @throws PositionLost; AppError `unavailable`
   */
  open(after: string | undefined): Promise<ChangeCursor>
}

/** The changes after a position are no longer known, or the position is not one of this database. */
export class PositionLost extends Error {
  constructor(cause?: unknown) {
    super('The changes after this position are no longer known', { cause })
    this.name = 'PositionLost'
  }
}
