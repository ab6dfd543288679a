import { beforeEach, describe, expect, test } from 'vitest'
import type { SweepStore } from '../src/store/sweeps.ts'
import { MINUTE, PROJECT, T0 } from './fixtures.ts'

const CONNECTIONS = [
  { id: 'con_a', projectId: PROJECT },
  { id: 'con_b', projectId: PROJECT },
]

/** What every keeper of sweeps does. Each test gets an empty one. */
export function sweepContract(name: string, open: () => Promise<SweepStore>): void {
  describe(`sweeps, ${name}`, () => {
    let sweeps: SweepStore
    beforeEach(async () => {
      sweeps = await open()
      await sweeps.ensure(CONNECTIONS, T0)
    })

    test('each connection is due at once, and leased to one process at a time', async () => {
      await sweeps.ensure(CONNECTIONS, T0 + MINUTE)
      const claimed = [await sweeps.claim('p1', T0, MINUTE), await sweeps.claim('p2', T0, MINUTE)]
      expect(new Set(claimed.map(sweep => sweep?._id))).toEqual(new Set(['con_a', 'con_b']))
      expect(await sweeps.claim('p3', T0, MINUTE)).toBeUndefined()
    })

    test('of many that ask at once each connection goes to one', async () => {
      const asked = Array.from({ length: 20 }, (_, number) => sweeps.claim(`p${number}`, T0, MINUTE))
      const claimed = (await Promise.all(asked)).flatMap(sweep => sweep?._id ?? [])
      expect(claimed.sort()).toEqual(['con_a', 'con_b'])
    })

    test('a lease that has passed is taken over, and what its former holder saves is refused', async () => {
      const first = await sweeps.claim('p1', T0, MINUTE)
      const id = first?._id ?? ''
      await sweeps.claim('p1', T0, MINUTE)
      const again = await sweeps.claim('p2', T0 + MINUTE + 1, MINUTE)
      expect(again).toMatchObject({ lease_holder: 'p2' })
      const other = again?._id === id ? 'con_b' : 'con_a'
      expect(await sweeps.save(again?._id ?? '', 'p1', { last_error: 'late' })).toBe(false)
      expect(await sweeps.save(other === id ? other : id, 'p1', { last_error: null })).toBe(again?._id !== id)
    })

    test('what is saved is there at the next claim; one that is not due is not claimed', async () => {
      const claimed = await sweeps.claim('p1', T0, MINUTE)
      const id = claimed?._id ?? ''
      const changes = { cursor: { after: 'x' }, leased_until: null, lease_holder: null }
      expect(await sweeps.save(id, 'p1', { ...changes, next_run_at: new Date(T0 + MINUTE) })).toBe(true)
      const other = await sweeps.claim('p1', T0 + 1, 10 * MINUTE)
      expect(other?._id).not.toBe(id)
      expect(await sweeps.claim('p1', T0 + MINUTE - 1, MINUTE)).toBeUndefined()
      expect(await sweeps.claim('p1', T0 + MINUTE, MINUTE)).toMatchObject({ _id: id, cursor: { after: 'x' } })
    })

    test('a wake makes it due now and keeps the earliest time since which nothing could be verified', async () => {
      for (const _ of CONNECTIONS) {
        const claimed = await sweeps.claim('p1', T0, MINUTE)
        const released = { next_run_at: new Date(T0 + MINUTE), leased_until: null, lease_holder: null }
        await sweeps.save(claimed?._id ?? '', 'p1', released)
      }
      await sweeps.wake('con_a', T0 + 1, T0 - 5)
      await sweeps.wake('con_a', T0 + 1, T0)
      await sweeps.wake('con_unknown', T0 + 1, null)
      const claimed = await sweeps.claim('p1', T0 + 1, MINUTE)
      expect(claimed).toMatchObject({ _id: 'con_a', unverified_since: new Date(T0 - 5) })
    })
  })
}
