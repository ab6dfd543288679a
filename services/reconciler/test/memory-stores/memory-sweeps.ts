import type { SweepDocument } from '@backstop/contracts'
import { newSweep, type SweepStore, type SweptConnection } from '../../src/sweep/sweep-store.ts'

/** The sweep store in memory, for simulations. */
export function createMemorySweeps(sweeps = new Map<string, SweepDocument>()): SweepStore {
  const listDue = (now: number) =>
    [...sweeps.values()]
      .filter(({ next_run_at }) => next_run_at.getTime() <= now)
      .filter(({ leased_until }) => leased_until === null || leased_until.getTime() < now)
  const known = ({ id, projectId }: SweptConnection, now: number) => sweeps.get(id) ?? newSweep(id, projectId, now)
  return {
    async ensure(connections, now) {
      for (const connection of connections) sweeps.set(connection.id, known(connection, now))
    },
    hasDue: async now => listDue(now).length > 0,
    async claim(holder, now, leaseMs, compartment) {
      const [due] = listDue(now)
        .filter(({ last_run_at, last_error }) => {
          const ofSweep = last_run_at === null ? 'first' : last_error === null ? 'quick' : 'slow'
          return compartment === undefined || compartment === ofSweep
        })
        .sort((a, b) => a.next_run_at.getTime() - b.next_run_at.getTime())
      if (due === undefined) return undefined
      const claimed = { ...due, leased_until: new Date(now + leaseMs), lease_holder: holder, woken: false }
      sweeps.set(due._id, claimed)
      return claimed
    },
    async save(id, holder, changes) {
      const sweep = sweeps.get(id)
      if (sweep?.lease_holder !== holder) return false
      sweeps.set(id, { ...sweep, ...changes })
      return true
    },
    async release(id, holder, end) {
      const sweep = sweeps.get(id)
      if (sweep?.lease_holder !== holder) return false
      const { next_run_at, unverified_since } = sweep
      const stays = sweep.woken ? { next_run_at, unverified_since } : {}
      sweeps.set(id, { ...sweep, ...end, ...stays, leased_until: null, lease_holder: null })
      return true
    },
    async remove(id, holder) {
      if (sweeps.get(id)?.lease_holder === holder) sweeps.delete(id)
    },
    async wake(connection, now, unverifiedSince) {
      const sweep = known(connection, now)
      const times = [sweep.unverified_since?.getTime() ?? null, unverifiedSince].filter(time => time !== null)
      sweeps.set(connection.id, {
        ...sweep,
        woken: true,
        next_run_at: new Date(now),
        unverified_since: times.length === 0 ? null : new Date(Math.min(...times)),
      })
    },
    async checkSoon(connectionId, now) {
      const sweep = sweeps.get(connectionId)
      if (sweep?.failing_since !== null) return
      sweeps.set(connectionId, { ...sweep, woken: true, next_run_at: new Date(now) })
    },
  }
}
