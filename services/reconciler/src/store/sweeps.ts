import type { SweepDocument } from '@backstop/contracts'

/** How far the sweep of each connection has come; one process at a time sweeps one connection. */
export interface SweepStore {
  /** Makes the document of each connection that has none, due at once. */
  ensure(connections: readonly { id: string; projectId: string }[], now: number): Promise<void>
  /** Leases one that is due to `holder`; undefined when none is. */
  claim(holder: string, now: number, leaseMs: number): Promise<SweepDocument | undefined>
  /** Changes the document of a lease that still is the holder's. @returns false when it no longer is */
  save(id: string, holder: string, changes: Partial<Omit<SweepDocument, '_id'>>): Promise<boolean>
  /** Makes a connection's sweep due now. `unverifiedSince` is kept if an earlier one stands there. */
  wake(connectionId: string, now: number, unverifiedSince: number | null): Promise<void>
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
    next_run_at: new Date(now),
    last_run_at: null,
    last_error: null,
    unseen: [],
    unverified_since: null,
    open_incidents: {},
  }
}
