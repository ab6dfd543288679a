import type { SweepDocument } from '@backstop/contracts'

/** The ids that a sweep needs of its connection. */
export interface SweptConnection {
  readonly id: string
  readonly projectId: string
}

/** The fields that the end of a run may change. */
export type SweepEnd = Pick<SweepDocument, 'next_run_at' | 'last_run_at'> &
  Partial<
    Pick<
      SweepDocument,
      | 'cursor'
      | 'baseline_at'
      | 'last_error'
      | 'failing_since'
      | 'failures'
      | 'unverified_since'
      | 'unseen'
      | 'open_incidents'
    >
  >

/** first: was never swept to an end or a failure. quick: its last run succeeded. slow: its last run failed. */
export const SWEEP_COMPARTMENTS = ['first', 'quick', 'slow'] as const
export type SweepCompartment = (typeof SWEEP_COMPARTMENTS)[number]

/** The progress of each connection's sweep. One process at a time sweeps a connection. */
export interface SweepStore {
  /** Creates the missing documents. Their first run is due now. */
  ensure(connections: readonly SweptConnection[], now: number): Promise<void>
  /**
   * Leases a due sweep to `holder`; undefined if none is due.
   * @param compartment left out: a sweep of any compartment
   */
  claim(
    holder: string,
    now: number,
    leaseMs: number,
    compartment?: SweepCompartment,
  ): Promise<SweepDocument | undefined>
  /**
   * Changes the document if the holder still has the lease.
   * @returns false if the lease was lost
   */
  save(id: string, holder: string, changes: Partial<Omit<SweepDocument, '_id'>>): Promise<boolean>
  /**
   * Ends the lease with these changes. If the sweep was woken since the claim, its due time and `unverified_since` are
   * kept, because this run may have begun before the reason for waking.
   * @returns false if the lease was lost
   */
  release(id: string, holder: string, end: SweepEnd): Promise<boolean>
  /** Removes the sweep of a deleted connection, if the holder still has the lease. */
  remove(id: string, holder: string): Promise<void>
  /**
   * Makes a connection's sweep due now, even if the connection was never swept or a run is in progress.
   * @param unverifiedSince in milliseconds since the epoch; an earlier stored time is kept. Null changes nothing
   */
  wake(connection: SweptConnection, now: number, unverifiedSince: number | null): Promise<void>
  /** Makes a connection's sweep due now, unless its last run failed: that failure is known, and its pause stands. */
  checkSoon(connectionId: string, now: number): Promise<void>
}

/** The document of a connection before its first run. */
export function newSweep(id: string, projectId: string, now: number): SweepDocument {
  return {
    _id: id,
    project_id: projectId,
    cursor: null,
    baseline_at: null,
    leased_until: null,
    lease_holder: null,
    woken: false,
    next_run_at: new Date(now),
    last_run_at: null,
    last_error: null,
    failing_since: null,
    failures: 0,
    unseen: [],
    unverified_since: null,
    open_incidents: {},
  }
}
