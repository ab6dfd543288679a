import type { SweepDocument } from '@backstop/contracts'

/** A connection, as a sweep knows it. */
export interface SweptConnection {
  readonly id: string
  readonly projectId: string
}

/** What the end of a run may change. */
export type SweepEnd = Pick<SweepDocument, 'next_run_at' | 'last_run_at'> &
  Partial<
    Pick<SweepDocument, 'last_error' | 'failing_since' | 'failures' | 'unverified_since' | 'unseen' | 'open_incidents'>
  >

/** How far the sweep of each connection has come; one process at a time sweeps one connection. */
export interface SweepStore {
  /** Makes the document of each connection that has none, due at once. */
  ensure(connections: readonly SweptConnection[], now: number): Promise<void>
  /**
   * Leases one that is due to `holder`; undefined when none is.
   * @param compartment quick: one whose last run worked. slow: any other. Both when left out
   */
  claim(
    holder: string,
    now: number,
    leaseMs: number,
    compartment?: 'quick' | 'slow',
  ): Promise<SweepDocument | undefined>
  /** Changes the document of a lease that still is the holder's. @returns false when it no longer is */
  save(id: string, holder: string, changes: Partial<Omit<SweepDocument, '_id'>>): Promise<boolean>
  /**
   * Ends the holder's lease with these changes. Where somebody woke it since the claim, it stays due and unverified: this run
   * may have begun before what it was woken for. @returns false when the lease no longer is the holder's
   */
  release(id: string, holder: string, end: SweepEnd): Promise<boolean>
  /**
   * Makes a connection's sweep due now, also one that was never swept and one that runs.
   * @param unverifiedSince kept unless an earlier one stands there, in milliseconds since the epoch; null says nothing of it
   */
  wake(connection: SweptConnection, now: number, unverifiedSince: number | null): Promise<void>
}

/** A connection before its first run. */
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
