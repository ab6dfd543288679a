import type { SweepDayDocument } from '@backstop/contracts'
import { PROJECT } from '@backstop/verdict/test'
import { describe, expect, test } from 'vitest'
import type { SweepDayStore } from '../src/sweep/sweep-day-store.ts'

const at = (time: string) => new Date(`2026-11-21T${time}:00.000Z`)
const RUN = {
  ...{ connectionId: 'con_a', projectId: PROJECT, recordedFrom: at('09:00'), endedAt: at('10:00') },
  ...{ objects: 2, readUntil: at('09:59'), interruption: null },
}
const DAY = { _id: 'con_a/2026-11-21', project_id: PROJECT, connection_id: 'con_a', day: at('00:00') }

/** The store of the record of sweeps, and a function for data that its port cannot read. */
export interface SweepDaysUnderTest {
  readonly sweepDays: SweepDayStore
  storedSweepDays(): Promise<SweepDayDocument[]>
}

/** The tests of the record of sweeps. Each test gets an empty store. */
export function sweepDayContract(name: string, open: () => Promise<SweepDaysUnderTest>): void {
  describe(`record of sweeps, ${name}`, () => {
    test('adds the sweeps of a day, also those that did not reach the present', async () => {
      const { sweepDays, storedSweepDays } = await open()
      await sweepDays.add({ ...RUN, readUntil: null })
      expect(await storedSweepDays()).toEqual([
        { ...DAY, recorded_from: at('09:00'), completed: 0, objects: 2, interruptions: [] },
      ])
      const interruption = { from: at('10:00'), to: at('11:00'), cause: null }
      await sweepDays.add(RUN)
      await sweepDays.add({ ...RUN, recordedFrom: at('10:00'), readUntil: at('10:59'), interruption })
      await sweepDays.add({ ...RUN, endedAt: new Date('2026-11-22T00:00:00.000Z') })
      expect(await storedSweepDays()).toMatchObject([
        {
          ...DAY,
          recorded_from: at('09:00'),
          read_until: at('10:59'),
          completed: 2,
          objects: 6,
          interruptions: [interruption],
        },
        { _id: 'con_a/2026-11-22', completed: 1 },
      ])
    })
  })
}
