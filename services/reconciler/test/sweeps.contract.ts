import { MINUTE, PROJECT, T0 } from '@backstop/verdict/test'
import { beforeEach, describe, expect, test } from 'vitest'
import type { ReconcilerStores } from '../src/stores.ts'
import type { SweepCompartment, SweepStore } from '../src/sweep/sweep-store.ts'

const CONNECTIONS = [
  { id: 'con_a', projectId: PROJECT },
  { id: 'con_b', projectId: PROJECT },
] as const
const END = { next_run_at: new Date(T0 + MINUTE), last_run_at: new Date(T0) }

/** The tests for every implementation of the sweep store. Each test gets an empty store. */
export function sweepContract(name: string, open: () => Promise<Pick<ReconcilerStores, 'sweeps'>>): void {
  describe(`sweeps, ${name}`, () => {
    let sweeps: SweepStore
    beforeEach(async () => {
      ;({ sweeps } = await open())
      await sweeps.ensure(CONNECTIONS, T0)
    })

    test('each connection is due at once, and leased to one process at a time', async () => {
      await sweeps.ensure(CONNECTIONS, T0 + MINUTE)
      const claimed = [await sweeps.claim('p1', T0, MINUTE), await sweeps.claim('p2', T0, MINUTE)]
      expect(new Set(claimed.map(sweep => sweep?._id))).toEqual(new Set(['con_a', 'con_b']))
      expect(await sweeps.claim('p3', T0, MINUTE)).toBeUndefined()
    })

    test('a sweep is due from its time until it is leased, and again when the lease ends', async () => {
      expect(await sweeps.hasDue(T0 - 1)).toBe(false)
      expect(await sweeps.hasDue(T0)).toBe(true)
      await sweeps.claim('p1', T0, MINUTE)
      expect(await sweeps.hasDue(T0)).toBe(true)
      await sweeps.claim('p1', T0, MINUTE)
      expect(await sweeps.hasDue(T0 + MINUTE)).toBe(false)
      expect(await sweeps.hasDue(T0 + MINUTE + 1)).toBe(true)
    })

    test('each connection is leased once if many processes claim at the same time', async () => {
      const asked = Array.from({ length: 20 }, (_, number) => sweeps.claim(`p${number}`, T0, MINUTE))
      const claimed = (await Promise.all(asked)).flatMap(sweep => sweep?._id ?? [])
      expect(claimed.sort()).toEqual(['con_a', 'con_b'])
    })

    test('an expired lease can be claimed, and its former holder cannot save', async () => {
      const first = await sweeps.claim('p1', T0, MINUTE)
      const id = first?._id ?? ''
      await sweeps.claim('p1', T0, MINUTE)
      const again = await sweeps.claim('p2', T0 + MINUTE + 1, MINUTE)
      expect(again).toMatchObject({ lease_holder: 'p2' })
      const other = again?._id === id ? 'con_b' : 'con_a'
      expect(await sweeps.save(again?._id ?? '', 'p1', { last_error: 'late' })).toBe(false)
      expect(await sweeps.save(other === id ? other : id, 'p1', { last_error: null })).toBe(again?._id !== id)
    })

    test('saved changes are in the next claim, and a sweep that is not due is not claimed', async () => {
      const claimed = await sweeps.claim('p1', T0, MINUTE)
      const id = claimed?._id ?? ''
      const changes = { cursor: { after: 'x' }, leased_until: null, lease_holder: null }
      expect(await sweeps.save(id, 'p1', { ...changes, next_run_at: new Date(T0 + MINUTE) })).toBe(true)
      const other = await sweeps.claim('p1', T0 + 1, 10 * MINUTE)
      expect(other?._id).not.toBe(id)
      expect(await sweeps.claim('p1', T0 + MINUTE - 1, MINUTE)).toBeUndefined()
      expect(await sweeps.claim('p1', T0 + MINUTE, MINUTE)).toMatchObject({ _id: id, cursor: { after: 'x' } })
    })

    test('a run that was not woken ends with its own changes, without a lease', async () => {
      const claimed = await sweeps.claim('p1', T0, MINUTE)
      const id = claimed?._id ?? ''
      const end = { ...END, last_error: 'Away', unverified_since: null }
      expect(await sweeps.release(id, 'p2', end)).toBe(false)
      expect(await sweeps.release(id, 'p1', end)).toBe(true)
      expect(await sweeps.save(id, 'p1', { last_error: 'late' })).toBe(false)
      await sweeps.claim('p1', T0, 10 * MINUTE)
      expect(await sweeps.claim('p2', T0 + MINUTE - 1, MINUTE)).toBeUndefined()
      expect(await sweeps.claim('p2', T0 + MINUTE, MINUTE)).toMatchObject({ _id: id, last_error: 'Away' })
    })

    test('a sweep without a run is in the first compartment, one that succeeded in the quick, one that failed in the slow', async () => {
      const claim = async (compartment: SweepCompartment, at: number) =>
        (await sweeps.claim('p1', at, MINUTE, compartment))?._id
      expect(await claim('quick', T0)).toBeUndefined()
      expect(await claim('slow', T0)).toBeUndefined()
      const [first, second] = [(await claim('first', T0)) ?? '', (await claim('first', T0)) ?? '']
      await sweeps.release(first, 'p1', { ...END, last_error: null, failures: 0 })
      await sweeps.release(second, 'p1', { ...END, last_error: 'Away', failures: 3 })
      expect(await claim('first', T0 + MINUTE)).toBeUndefined()
      expect(await claim('quick', T0 + MINUTE)).toBe(first)
      expect(await claim('quick', T0 + MINUTE)).toBeUndefined()
      expect(await sweeps.claim('p1', T0 + MINUTE, MINUTE, 'slow')).toMatchObject({ _id: second, failures: 3 })
    })

    test('a removed sweep is never claimed again, and only the holder of its lease removes it', async () => {
      const id = (await sweeps.claim('p1', T0, MINUTE))?._id ?? ''
      await sweeps.remove(id, 'p2')
      await sweeps.remove(id, 'p1')
      expect(await sweeps.save(id, 'p1', { last_error: 'late' })).toBe(false)
      const other = (await sweeps.claim('p1', T0, MINUTE))?._id ?? ''
      await sweeps.remove(other, 'p2')
      expect(await sweeps.claim('p1', T0 + 2 * MINUTE, MINUTE)).toMatchObject({ _id: other })
      expect(await sweeps.claim('p1', T0 + 2 * MINUTE, MINUTE)).toBeUndefined()
    })

    test('waking makes a sweep due now and keeps the earliest unverified time', async () => {
      for (const _ of CONNECTIONS) {
        const claimed = await sweeps.claim('p1', T0, MINUTE)
        await sweeps.release(claimed?._id ?? '', 'p1', END)
      }
      await sweeps.wake(CONNECTIONS[0], T0 + 1, T0)
      await sweeps.wake(CONNECTIONS[0], T0 + 1, T0 - 5)
      await sweeps.wake(CONNECTIONS[0], T0 + 1, null)
      const claimed = await sweeps.claim('p1', T0 + 1, MINUTE)
      expect(claimed).toMatchObject({ _id: 'con_a', unverified_since: new Date(T0 - 5) })
      expect(await sweeps.claim('p1', T0 + 1, MINUTE)).toBeUndefined()
    })

    test('waking during a run is kept at the end of that run: the sweep is due at once, and still unverified', async () => {
      const [a, b] = [await sweeps.claim('p1', T0, MINUTE), await sweeps.claim('p1', T0, MINUTE)]
      await sweeps.wake(CONNECTIONS[0], T0, T0 - 5)
      const end = { ...END, last_error: 'Away', unverified_since: null }
      for (const claimed of [a, b]) expect(await sweeps.release(claimed?._id ?? '', 'p1', end)).toBe(true)
      const again = await sweeps.claim('p2', T0 + 1, MINUTE)
      expect(again).toMatchObject({ _id: 'con_a', last_error: 'Away', unverified_since: new Date(T0 - 5) })
      expect(await sweeps.claim('p2', T0 + 1, MINUTE)).toBeUndefined()
      // The run for which it was woken has begun after that.
      await sweeps.release('con_a', 'p2', end)
      expect(await sweeps.claim('p2', T0 + 1, MINUTE)).toBeUndefined()
      await sweeps.claim('p2', T0 + MINUTE, 10 * MINUTE)
      expect(await sweeps.claim('p2', T0 + MINUTE, MINUTE)).toMatchObject({ unverified_since: null })
    })

    test('a check soon makes a sweep due now, and keeps the pause of one that fails', async () => {
      const failed = { ...END, last_error: 'Refused', failing_since: new Date(T0), failures: 1 }
      for (const _ of CONNECTIONS) {
        const claimed = await sweeps.claim('p1', T0, MINUTE)
        await sweeps.release(claimed?._id ?? '', 'p1', claimed?._id === 'con_a' ? failed : END)
      }
      for (const { id } of [...CONNECTIONS, { id: 'con_unknown' }]) await sweeps.checkSoon(id, T0 + 1)
      expect(await sweeps.claim('p1', T0 + 1, MINUTE)).toMatchObject({ _id: 'con_b' })
      expect(await sweeps.claim('p1', T0 + 1, MINUTE)).toBeUndefined()
    })

    test('waking a connection that was never swept creates its sweep, due now', async () => {
      await sweeps.claim('p1', T0, 10 * MINUTE)
      await sweeps.claim('p1', T0, 10 * MINUTE)
      await sweeps.wake({ id: 'con_new', projectId: PROJECT }, T0 + 1, T0 - 5)
      const claimed = await sweeps.claim('p1', T0 + 1, MINUTE)
      expect(claimed).toMatchObject({ _id: 'con_new', project_id: PROJECT, unverified_since: new Date(T0 - 5) })
      expect(claimed).toMatchObject({ baseline_at: null, unseen: [], open_incidents: {} })
    })
  })
}
