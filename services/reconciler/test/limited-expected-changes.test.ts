/** Expected changes whose limits apply to each week, or that are limited to a customer, through the reconciler's batch. */
import { type ExpectedChangeDocument, periodOf } from '@backstop/contracts'
import { MINUTE, PROJECT, T0 } from '@backstop/verdict/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { WorkItem } from '../src/batch/work-item.ts'
import { CRASH_POINTS, type CrashPoint } from './crash-points.ts'
import { Crash, expectedChangeHarness } from './expected-change-harness.ts'

const DAY = 24 * 60 * MINUTE
const MONDAY = Date.parse('2026-11-16T00:00:00Z')

/** A weekly limit of EUR 50.00 that began long ago, and ends in months. */
function weekly(more: Partial<ExpectedChangeDocument> = {}): Partial<ExpectedChangeDocument> {
  return {
    subject: '',
    limits: { subject: null, customer_id: null, actor_id: null, interval: 'week' },
    max_changes: 100,
    max_amount: 5_000,
    currency: 'eur',
    starts_at: new Date(T0 - 60 * DAY),
    expires_at: new Date(T0 + 100 * DAY),
    ...more,
  }
}

function harness() {
  const base = expectedChangeHarness()
  const { stores, actions } = base
  const { expectedChangeUses } = stores.contents
  return {
    ...base,
    /** The second look at every refund that has one. */
    lookAll: () =>
      base.reconcile(...actions().flatMap(({ providerRef }) => base.look(`${providerRef}`.slice('re_'.length)))),
    /** The uses of each week, by the ids of the provider. */
    usesByWeek: () => {
      const refOf = new Map(actions().map(({ id, providerRef }) => [id, providerRef]))
      const found = [...expectedChangeUses.values()].map(({ id, uses }) => [
        id,
        uses.map(use => refOf.get(use.actionId)),
      ])
      return Object.fromEntries(found)
    },
  }
}

describe('an expected change with a limit for each week', () => {
  test('covers as much in each week as its limit, by the time of the provider, also for changes that arrive late', async () => {
    const { put, reconcile, refund, lookAll, verdicts, usesByWeek } = harness()
    put(weekly())
    await reconcile(
      refund('sunday', 3_000, { createdAt: MONDAY - 1 }),
      refund('also_sunday', 3_000, { createdAt: MONDAY - 2 }),
      refund('monday', 3_000, { createdAt: MONDAY }),
    )
    await lookAll()
    expect(verdicts()).toMatchObject({ re_monday: 'explained' })
    expect(Object.values(verdicts()).sort()).toEqual(['explained', 'explained', 'unexplained'])
    await reconcile(
      refund('late', 2_000, { createdAt: MONDAY - DAY }),
      refund('too_late', 1, { createdAt: MONDAY - DAY }),
    )
    await lookAll()
    expect(verdicts()).toMatchObject({ re_late: expect.any(String), re_too_late: expect.any(String) })
    const sunday = usesByWeek()['exp_1/2026-11-09']
    expect(sunday).toHaveLength(2)
    expect(usesByWeek()['exp_1/2026-11-16']).toEqual(['re_monday'])
  })

  test('gives a use back to its week if an operation explains the change later', async () => {
    const { put, reconcile, refund, look, lookAll, operationOf, usesByWeek, covered } = harness()
    put(weekly())
    await reconcile(refund('a', 5_000, { createdAt: MONDAY - 1 }), refund('b', 5_000, { createdAt: MONDAY }))
    await lookAll()
    await reconcile(operationOf('a', { executing_at: new Date(MONDAY - MINUTE).toISOString() }))
    expect(usesByWeek()).toEqual({ 'exp_1/2026-11-09': [], 'exp_1/2026-11-16': ['re_b'] })
    await reconcile(refund('c', 5_000, { createdAt: MONDAY }), refund('d', 5_000, { createdAt: MONDAY - 1 }))
    await reconcile(...look('c'), ...look('d'))
    expect(covered().sort()).toEqual(['re_b', 're_d'])
  })

  test('moves a use to another week if the provider gives another time', async () => {
    const { put, reconcile, refund, lookAll, usesByWeek } = harness()
    put(weekly())
    await reconcile(refund('a', 5_000, { createdAt: MONDAY, stateVersion: 1 }))
    await lookAll()
    await reconcile(refund('a', 5_000, { createdAt: MONDAY - 1, stateVersion: 2 }))
    await lookAll()
    expect(usesByWeek()).toEqual({ 'exp_1/2026-11-09': ['re_a'], 'exp_1/2026-11-16': [] })
  })

  test('resolves the open incidents of past weeks within the limit of each', async () => {
    const { put, reconcile, refund, lookAll, applied, incidents, usesByWeek } = harness()
    await reconcile(
      refund('a', 5_000, { createdAt: MONDAY - DAY }),
      refund('b', 5_000, { createdAt: MONDAY - DAY }),
      refund('c', 5_000, { createdAt: MONDAY + DAY }),
    )
    await lookAll()
    put(weekly({ starts_at: null }))
    expect(await applied.apply('exp_1')).toBe('applied')
    expect(incidents()).toEqual(['open', 'resolved', 'resolved'])
    expect(Object.values<unknown[]>(usesByWeek()).map(list => list.length)).toEqual([1, 1])
  })

  test('gives back a use that a killed process left, if an operation explains the change meanwhile', async () => {
    const { put, reconcile, refund, lookAll, crash, applied, operationOf, usesByWeek, covered } = harness()
    await reconcile(refund('a', 5_000, { createdAt: MONDAY }))
    await lookAll()
    await reconcile(refund('b', 5_000, { createdAt: MONDAY }))
    await lookAll()
    put(weekly({ starts_at: null }))
    crash('before the save')
    await expect(applied.apply('exp_1')).rejects.toThrow(Crash)
    expect(usesByWeek()).toEqual({ 'exp_1/2026-11-16': ['re_a'] })
    await reconcile(operationOf('a', { executing_at: new Date(MONDAY - MINUTE).toISOString() }))
    expect(await applied.apply('exp_1')).toBe('applied')
    expect([covered(), usesByWeek()]).toEqual([['re_b'], { 'exp_1/2026-11-16': ['re_b'] }])
  })

  test('is decided again if two payments become one while another process decides one of them', async () => {
    const { put, reconcile, refund, look, covered } = harness()
    const shown = (name: string, stateVersion: number, about = [`pi_${name}`]) =>
      refund(name, 500, { createdAt: MONDAY, stateVersion, about })
    await reconcile(shown('a', 1), shown('c', 1))
    put(weekly({ max_changes: 1, max_amount: null }))
    await reconcile(...look('c'))
    await reconcile(...look('a'))
    await reconcile(refund('a', 500, { createdAt: MONDAY, stateVersion: 2, state: 'failed' }))
    const joined = ['pi_a', 'pi_c']
    const both = () => reconcile(shown('a', 3, joined), shown('c', 3, joined))
    await Promise.allSettled([both(), reconcile(shown('a', 3))])
    await both()
    expect(covered()).toHaveLength(1)
  })

  test('covers nothing more after its deletion', async () => {
    const { put, reconcile, refund, lookAll, stores, covered } = harness()
    put(weekly())
    await reconcile(refund('a', 1_000))
    await lookAll()
    stores.contents.expectedChanges.length = 0
    await reconcile(refund('b', 1_000, { about: ['pi_a'] }))
    await lookAll()
    expect(covered()).toEqual(['re_a'])
  })
})

describe('a reconciler of 0.2.0', () => {
  /** The query by which 0.2.0 finds expected changes. */
  const foundBefore = (document: ExpectedChangeDocument, names: string[]) =>
    document.subject === null || names.includes(document.subject)

  test('finds no expected change with the new limits, and takes those in a case for deleted', async () => {
    const { put, reconcile, refund, lookAll, stores, covered } = harness()
    put(weekly())
    await reconcile(refund('a', 1_000))
    await lookAll()
    const [document] = stores.contents.expectedChanges
    expect(foundBefore(document!, ['pi_a', 're_a'])).toBe(false)
    // It looks for the ids that the case has, and finds no document.
    const inCase = [...stores.contents.cases.values()].flatMap(({ expectedChanges }) =>
      expectedChanges.map(({ id }) => id),
    )
    expect(inCase).toEqual(['exp_1/2026-11-16'])
    const store = stores.expectedChanges as {
      find: typeof stores.expectedChanges.find
      byIds: typeof stores.expectedChanges.byIds
    }
    store.find = async () => []
    store.byIds = async () => []
    await reconcile(refund('b', 1_000, { about: ['pi_a'] }))
    await lookAll()
    expect(covered()).toEqual(['re_a'])
  })

  test('finds no document with the id of the uses of an expected change of one customer', async () => {
    const { put, reconcile, refund, lookAll, usesByWeek } = harness()
    put(weekly({ limits: { subject: null, customer_id: 'cus_1', actor_id: null, interval: null } }))
    const details = { customer: { id: 'cus_1', name: null, email: null } }
    await reconcile(refund('a', 1_000, { details }), refund('b', 1_000))
    await lookAll()
    expect(usesByWeek()).toEqual({ 'exp_1/total': ['re_a'] })
  })
})

const POINTS: (CrashPoint | undefined)[] = [undefined, undefined, ...CRASH_POINTS]

test('no week ever has more covered money or changes than its limit, whatever happens at the same time', async () => {
  const names = ['a', 'b', 'c', 'd', 'e']
  const about = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 })
  const time = fc.constantFrom(MONDAY - 7 * DAY - 1, MONDAY - 7 * DAY, MONDAY - 1, MONDAY, MONDAY + 1, T0)
  const step = fc.record({
    does: fc.constantFrom('look', 'look', 'operation', 'apply', 'redate', 'merge', 'delete', 'cancel'),
    about,
    beside: about,
    time,
    dies: fc.constantFrom(...POINTS),
  })
  const limits = fc.record({
    max_changes: fc.integer({ min: 1, max: 3 }),
    max_amount: fc.constantFrom(null, 1_000, 2_500),
  })
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(time, { minLength: 5, maxLength: 5 }),
      fc.array(step, { maxLength: 10 }),
      async (limit, times, steps) => {
        const { reconcile, refund, look, put, crash, operationOf, applied, stores, actions } = harness()
        const amountOf = (name: string) => 500 * (names.indexOf(name) + 1)
        await reconcile(...names.map((name, index) => refund(name, amountOf(name), { createdAt: times[index] ?? T0 })))
        put({ ...weekly(), ...limit })
        let version = 0
        for (const { does, about, beside, time, dies } of steps) {
          version += 1
          const itemsOf = (list: readonly string[]): WorkItem[] =>
            list.flatMap(name => {
              if (does === 'look') return look(name)
              if (does === 'operation')
                return operationOf(name, { executing_at: new Date(time - MINUTE).toISOString() })
              const more = {
                merge: { about: list.map(other => `pi_${other}`) },
                redate: { createdAt: time },
                cancel: { state: 'failed' as const },
              }[does as 'merge' | 'redate' | 'cancel']
              return refund(name, amountOf(name), {
                createdAt: times[names.indexOf(name)] ?? T0,
                ...more,
                stateVersion: version,
              })
            })
          const act = async () => {
            if (does === 'apply') await applied.apply('exp_1')
            else if (does === 'delete')
              for (const document of stores.contents.expectedChanges) document.deleted_at ??= new Date()
            else {
              const both = [reconcile(...itemsOf(about)), reconcile(...itemsOf(beside))]
              const results = await Promise.allSettled(both)
              if (results.some(({ status }) => status === 'rejected')) throw new Error('A batch failed')
            }
          }
          // A batch that failed or lost a race is repeated later, when the other one is over.
          const again = async () => {
            if (does === 'apply') return applied.apply('exp_1')
            await reconcile(...itemsOf(about))
            return reconcile(...itemsOf(beside))
          }
          if (dies !== undefined) crash(dies)
          await act().catch(() => (does === 'delete' ? undefined : again()))
          const covered = actions().filter(({ expectedChangeId }) => expectedChangeId !== null)
          for (const [week, list] of Map.groupBy(
            covered,
            ({ providerCreatedAt }) => periodOf('week', providerCreatedAt).firstDay,
          )) {
            expect(new Set(list.map(({ expectedChangeId }) => expectedChangeId))).toEqual(new Set([`exp_1/${week}`]))
            expect(list.length).toBeLessThanOrEqual(limit.max_changes)
            const money = list.reduce((sum, { amount }) => sum + (amount ?? 0), 0)
            expect(money).toBeLessThanOrEqual(limit.max_amount ?? Number.POSITIVE_INFINITY)
            const counted = stores.contents.expectedChangeUses
              .get(`exp_1/${week}`)
              ?.uses.map(({ actionId }) => actionId)
            expect(counted).toEqual(expect.arrayContaining(list.map(({ id }) => id)))
          }
        }
        expect(stores.contents.expectedChanges[0]?.project_id).toBe(PROJECT)
      },
    ),
  )
}, 60_000)
