import type { SweepDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, onlyDuplicates } from '@backstop/kit'
import { newSweep, type SweepStore } from './sweeps.ts'

/** Collection `sweeps`. */
export function createMongoSweeps(mongo: Mongo): SweepStore {
  const sweeps = mongo.db.collection<SweepDocument>('sweeps')
  return {
    async ensure(connections, now) {
      if (connections.length === 0) return
      await asUnavailable(async () => {
        const ids = connections.map(({ id }) => id)
        const known = await sweeps.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray()
        const there = new Set(known.map(({ _id }) => _id))
        const missing = connections.filter(({ id }) => !there.has(id))
        if (missing.length === 0) return
        const documents = missing.map(({ id, projectId }) => newSweep(id, projectId, now))
        await onlyDuplicates(() => sweeps.insertMany(documents, { ordered: false }), documents.length)
      })
    },
    claim: (holder, now, leaseMs) =>
      asUnavailable(async () => {
        const isFree = { $or: [{ leased_until: null }, { leased_until: { $lt: new Date(now) } }] }
        const lease = { leased_until: new Date(now + leaseMs), lease_holder: holder }
        const claimed = await sweeps.findOneAndUpdate(
          { next_run_at: { $lte: new Date(now) }, ...isFree },
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
    async wake(connectionId, now, unverifiedSince) {
      await asUnavailable(async () => {
        await sweeps.updateOne({ _id: connectionId }, { $set: { next_run_at: new Date(now) } })
        if (unverifiedSince === null) return
        await sweeps.updateOne(
          { _id: connectionId, unverified_since: null },
          { $set: { unverified_since: new Date(unverifiedSince) } },
        )
      })
    },
  }
}
