import type { SweepDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'
import { newSweep, type SweepCompartment, type SweepStore, type SweptConnection } from './sweeps.ts'

const LAST_RUN_FILTERS: Readonly<Record<SweepCompartment, Filter<SweepDocument>>> = {
  first: { last_run_at: null },
  quick: { last_run_at: { $ne: null }, last_error: null },
  slow: { last_run_at: { $ne: null }, last_error: { $ne: null } },
}

/** The sweeps, collection `sweeps`. */
export function createMongoSweeps(mongo: Mongo): SweepStore {
  const sweeps = mongo.db.collection<SweepDocument>('sweeps')
  async function ensure(connections: readonly SweptConnection[], now: number): Promise<void> {
    if (connections.length === 0) return
    await asUnavailable(async () => {
      const ids = connections.map(({ id }) => id)
      const known = await sweeps.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
      const there = new Set(known.map(({ _id }) => _id))
      const missing = connections.filter(({ id }) => !there.has(id))
      if (missing.length === 0) return
      const documents = missing.map(({ id, projectId }) => newSweep(id, projectId, now))
      await writeIgnoringDuplicates(() => sweeps.insertMany(documents, { ordered: false }), documents.length)
    })
  }
  return {
    ensure,
    claim: (holder, now, leaseMs, compartment) =>
      asUnavailable(async () => {
        const isFree = { $or: [{ leased_until: null }, { leased_until: { $lt: new Date(now) } }] }
        const lease = { leased_until: new Date(now + leaseMs), lease_holder: holder, woken: false }
        const claimed = await sweeps.findOneAndUpdate(
          {
            next_run_at: { $lte: new Date(now) },
            $and: [isFree, compartment === undefined ? {} : LAST_RUN_FILTERS[compartment]],
          },
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
