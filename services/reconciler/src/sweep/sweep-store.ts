import type { SweepDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'

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
      | 'completed_at'
      | 'read_until'
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
  /** Whether a sweep is due. One read, where claims are a write for each compartment. */
  hasDue(now: number): Promise<boolean>
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
    completed_at: null,
    last_error: null,
    failing_since: null,
    failures: 0,
    unseen: [],
    unverified_since: null,
    open_incidents: {},
  }
}

const LAST_RUN_FILTERS: Readonly<Record<SweepCompartment, Filter<SweepDocument>>> = {
  first: { last_run_at: null },
  quick: { last_run_at: { $ne: null }, last_error: null },
  slow: { last_run_at: { $ne: null }, last_error: { $ne: null } },
}

/** The sweeps, collection `sweeps`. */
export function createMongoSweeps(mongo: Mongo): SweepStore {
  const sweeps = mongo.db.collection<SweepDocument>('sweeps')
  const dueAt = (now: number): Filter<SweepDocument> => ({
    next_run_at: { $lte: new Date(now) },
    $or: [{ leased_until: null }, { leased_until: { $lt: new Date(now) } }],
  })
  async function ensure(connections: readonly SweptConnection[], now: number): Promise<void> {
    if (connections.length === 0) return
    await asUnavailable(async () => {
      const ids = connections.map(({ id }) => id)
      const known = await sweeps.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
      const stored = new Set(known.map(({ _id }) => _id))
      const missing = connections.filter(({ id }) => !stored.has(id))
      if (missing.length === 0) return
      const documents = missing.map(({ id, projectId }) => newSweep(id, projectId, now))
      await writeIgnoringDuplicates(() => sweeps.insertMany(documents, { ordered: false }), documents.length)
    })
  }
  return {
    ensure,
    hasDue: now => asUnavailable(async () => (await sweeps.findOne(dueAt(now), { projection: { _id: 1 } })) !== null),
    claim: (holder, now, leaseMs, compartment) =>
      asUnavailable(async () => {
        const lease = { leased_until: new Date(now + leaseMs), lease_holder: holder, woken: false }
        const claimed = await sweeps.findOneAndUpdate(
          { ...dueAt(now), ...(compartment === undefined ? {} : LAST_RUN_FILTERS[compartment]) },
          { $set: lease },
          { sort: { next_run_at: 1 }, returnDocument: 'after' },
        )
        return claimed ?? undefined
      }),
    save: (id, holder, changes) =>
      asUnavailable(async () => {
        const { matchedCount } = await sweeps.updateOne({ _id: id, lease_holder: holder }, { $set: changes })
        return matchedCount === 1
      }),
    release: (id, holder, end) =>
      asUnavailable(async () => {
        const ours = { _id: id, lease_holder: holder }
        const released = { ...end, leased_until: null, lease_holder: null }
        const quiet = await sweeps.updateOne({ ...ours, woken: false }, { $set: released })
        if (quiet.matchedCount === 1) return true
        // The sweep was woken during the run. Only the next claim resets `woken`, so this second update cannot miss a
        // change.
        const { next_run_at, unverified_since, ...rest } = released
        const { matchedCount } = await sweeps.updateOne(ours, { $set: rest })
        return matchedCount === 1
      }),
    async remove(id, holder) {
      await asUnavailable(() => sweeps.deleteOne({ _id: id, lease_holder: holder }))
    },
    async wake(connection, now, unverifiedSince) {
      await ensure([connection], now)
      // One atomic update: a run that is claimed at the same time either sees all fields or leaves them unchanged at
      // its end. $min ignores null.
      const since = unverifiedSince === null ? null : new Date(unverifiedSince)
      const unverified_since = { $ifNull: [{ $min: ['$unverified_since', since] }, null] }
      const set = { woken: true, next_run_at: new Date(now), unverified_since }
      await asUnavailable(() => sweeps.updateOne({ _id: connection.id }, [{ $set: set }]))
    },
    async checkSoon(connectionId, now) {
      const set = { woken: true, next_run_at: new Date(now) }
      await asUnavailable(() => sweeps.updateOne({ _id: connectionId, failing_since: null }, { $set: set }))
    },
  }
}
