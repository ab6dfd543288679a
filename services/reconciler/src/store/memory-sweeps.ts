import type { SweepDocument } from '@backstop/contracts'
import { newSweep, type SweepStore } from './sweeps.ts'

/** The sweeps in memory, for simulation. */
export function createMemorySweeps(sweeps = new Map<string, SweepDocument>()): SweepStore {
  return {
    async ensure(connections, now) {
      for (const { id, projectId } of connections) if (!sweeps.has(id)) sweeps.set(id, newSweep(id, projectId, now))
    },
    async claim(holder, now, leaseMs) {
      const [due] = [...sweeps.values()]
        .filter(({ next_run_at }) => next_run_at.getTime() <= now)
        .filter(({ leased_until }) => leased_until === null || leased_until.getTime() < now)
        .sort((a, b) => a.next_run_at.getTime() - b.next_run_at.getTime())
      if (due === undefined) return undefined
      const claimed = { ...due, leased_until: new Date(now + leaseMs), lease_holder: holder }
      sweeps.set(due._id, claimed)
      return claimed
    },
    async save(id, holder, changes) {
      const known = sweeps.get(id)
      if (known?.lease_holder !== holder) return false
      sweeps.set(id, { ...known, ...changes })
      return true
    },
    async wake(connectionId, now, unverifiedSince) {
      const known = sweeps.get(connectionId)
      if (known === undefined) return
      const since = unverifiedSince === null ? null : new Date(unverifiedSince)
      sweeps.set(connectionId, {
        ...known,
        next_run_at: new Date(now),
        unverified_since: known.unverified_since ?? since,
      })
    },
  }
}
