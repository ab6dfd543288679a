/** Several cases claim the uses of one expected change, through the reconciler's batch over stores in memory. */
import type { ExpectedChangeDocument } from '@backstop/contracts'
import { MINUTE, PROJECT, refundSeen, refundShown, sourceOf, T0, totalSeen } from '@backstop/verdict/test'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StoredUses } from '../src/batch/claim-expected-changes.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { CRASH_POINTS, type CrashPoint } from './crash-points.ts'
import { Crash, expectedChangeHarness as harness } from './expected-change-harness.ts'

describe('an expected change of one change', () => {
  test('covers one of two payments in one batch, and the other one alerts', async () => {
    const { reconcile, refund, look, put, covered, incidents, uses } = harness()
    put()
    await reconcile(refund('a'), refund('b'))
    await reconcile(...look('a'), ...look('b'))
    expect(covered()).toHaveLength(1)
    expect(incidents()).toEqual(['open'])
    expect(uses()).toBe(1)
  })

  test('covers one of two payments that two reconcilers judge at the same time', async () => {
    const { reconcile, refund, look, put, covered, incidents, uses } = harness()
    put()
    await reconcile(refund('a'), refund('b'))
    await Promise.all([reconcile(...look('a')), reconcile(...look('b'))])
    expect(covered()).toHaveLength(1)
    expect(incidents()).toEqual(['open'])
    expect(uses()).toBe(1)
  })

  test.each(CRASH_POINTS)('resolves an open incident, which is listed, after a crash %s', async point => {
    const { reconcile, refund, look, put, crash, applied, incidents, stores } = harness()
    await reconcile(refund('a'))
    await reconcile(...look('a'))
    put()
    crash(point)
    await applied.apply('exp_1').catch(() => {})
    await applied.apply('exp_1')
    expect(incidents()).toEqual(['resolved'])
    expect([...stores.contents.actions.values()]).toMatchObject([{ verdict: 'explained' }])
  })

  test('is named with the action that used it up in the rule of the alerted action, and as deleted after its deletion', async () => {
    const { reconcile, refund, look, put, stores } = harness()
    put()
    await reconcile(refund('a'), refund('b'))
    await reconcile(...look('a'))
    await reconcile(...look('b'))
    const listed = () => new Map([...stores.contents.actions.values()].map(action => [action.provider_ref, action]))
    expect(listed().get('re_b')?.why?.rule).toBe(
      `Nothing explains it; expected change exp_1 would cover it, but was used up by ${listed().get('re_a')?.action_id}`,
    )
    stores.contents.expectedChanges.length = 0
    await reconcile(refund('b'))
    expect(listed().get('re_b')?.why?.rule).toBe(
      'Nothing explains it; expected change exp_1 would cover it, but was deleted',
    )
  })

  test('is used once if a process crashes between the claim and saving the verdict', async () => {
    const { reconcile, refund, look, put, crash, verdicts, uses } = harness()
    put()
    await reconcile(refund('a'))
    crash('before the save')
    await expect(reconcile(...look('a'))).rejects.toThrow(Crash)
    expect(uses()).toBe(1)
    await reconcile(...look('a'))
    expect(verdicts()).toEqual({ re_a: 'explained' })
    expect(uses()).toBe(1)
  })

  test('is released if its case no longer needs it when the batch is repeated', async () => {
    const { reconcile, refund, look, put, crash, operationOf, covered, uses } = harness()
    put()
    await reconcile(refund('a'), refund('b'))
    crash('before the save')
    await expect(reconcile(...look('a'))).rejects.toThrow(Crash)
    await reconcile(operationOf('a'))
    await reconcile(...look('a'))
    expect(uses()).toBe(0)
    await reconcile(...look('b'))
    expect(covered()).toEqual(['re_b'])
  })

  test('is released if an operation explains the action later', async () => {
    const { reconcile, refund, look, put, operationOf, covered, crash, uses } = harness()
    put()
    await reconcile(refund('a'), refund('b'))
    await reconcile(...look('a'))
    crash('after the save')
    await expect(reconcile(operationOf('a'))).rejects.toThrow(Crash)
    expect(uses()).toBe(1)
    await reconcile(operationOf('a'))
    expect(uses()).toBe(0)
    await reconcile(...look('b'))
    expect(covered()).toEqual(['re_b'])
  })

  test('is kept if its case claims it again before an older decision releases it', async () => {
    const { reconcile, refund, look, put, operationOf, covered, uses, stores } = harness()
    put()
    await reconcile(refund('a'))
    await reconcile(...look('a'))
    const store = stores.expectedChangeUses as { load: (ids: readonly string[]) => Promise<StoredUses> }
    const { load } = store
    let loads = 0
    store.load = async ids => {
      loads += 1
      if (loads === 2) {
        // The verdict with the operation is saved. Before the use is released, another process decides a second refund.
        store.load = load
        await reconcile(operationOf('a', { version: 2, provider_ref: 're_other' }))
      }
      return load(ids)
    }
    await reconcile(operationOf('a'))
    expect(loads).toBe(2)
    expect([covered(), uses()]).toEqual([['re_a'], 1])
    await reconcile(refund('b'))
    await reconcile(...look('b'))
    expect(covered()).toEqual(['re_a'])
  })

  test('is free again if its case was saved without the action that claimed it', async () => {
    const { clock, reconcile, put, covered, uses, stores } = harness()
    put()
    const seenAs = (input: ReturnType<typeof refundSeen>) => {
      const { sighting, source } = input as Extract<typeof input, { kind: 'sighting' }>
      const connection = { id: 'con_a', createdAt: T0 - MINUTE }
      return { kind: 'sighting', projectId: PROJECT, sighting, source: { ...source, connection } } as const
    }
    await reconcile(seenAs(totalSeen({ total: 2_499, before: 0 })))
    // The look at the total covers the refund that it proves. Before it is saved, the refund itself is saved, under another id.
    const { save } = stores.expectedChangeUses
    stores.expectedChangeUses.save = async next => {
      stores.expectedChangeUses.save = save
      const isSaved = await save(next)
      await reconcile(seenAs(refundSeen({ id: 're_a' })))
      return isSaved
    }
    const [theCase] = [...stores.contents.cases.values()]
    const [total] = theCase?.refundTotals ?? []
    const due_at = new Date(total?.look?.dueAt ?? 0).toISOString()
    const [ref = ''] = theCase?.refs ?? []
    await reconcile({ kind: 'recheck', recheck: { project_id: PROJECT, ref, look_id: total?.id ?? '', due_at } })
    await clock.advance(MINUTE)
    const [action] = [...stores.contents.cases.values()].flatMap(({ actions }) => actions)
    const again = new Date(action?.look?.dueAt ?? 0).toISOString()
    await reconcile({
      kind: 'recheck',
      recheck: { project_id: PROJECT, ref, look_id: action?.id ?? '', due_at: again },
    })
    expect(covered()).toEqual(['re_a'])
    expect(uses()).toBe(1)
  })

  test('is stored again if the use of a covered action was lost', async () => {
    const { reconcile, refund, look, put, covered, uses, stores } = harness()
    put()
    await reconcile(refund('a'))
    await reconcile(...look('a'))
    const stored = stores.contents.expectedChangeUses.get('exp_1')!
    stores.contents.expectedChangeUses.set('exp_1', { ...stored, uses: [] })
    await reconcile({ ...refund('a'), source: sourceOf('evt_again', 'refund.updated') } as WorkItem)
    expect(uses()).toBe(1)
    await reconcile(refund('b'))
    await reconcile(...look('b'))
    expect(covered()).toEqual(['re_a'])
  })

  test('covers nothing more after its deletion', async () => {
    const { reconcile, refund, look, put, stores, covered } = harness()
    put({ max_changes: 5 })
    await reconcile(refund('a'))
    await reconcile(...look('a'))
    stores.contents.expectedChanges.length = 0
    const again = { ...refund('a'), sighting: refundShown({ providerRef: 're_a2', about: ['pi_a'], createdAt: T0 }) }
    await reconcile(again as WorkItem)
    expect(covered()).toEqual(['re_a'])
  })
})

describe('a new expected change', () => {
  test('resolves as many open incidents as it covers, oldest first, and reports that', async () => {
    const { reconcile, refund, look, put, clock, verdicts, incidents, applied, stores } = harness()
    for (const name of ['a', 'b', 'c']) {
      await reconcile(refund(name))
      await reconcile(...look(name))
      await clock.advance(10 * MINUTE)
    }
    expect(incidents()).toEqual(['open', 'open', 'open'])
    put({ max_changes: 2 })
    expect(await applied.apply('exp_1')).toBe('applied')
    expect(verdicts()).toEqual({ re_a: 'explained', re_b: 'explained', re_c: 'unexplained' })
    expect(incidents()).toEqual(['open', 'resolved', 'resolved'])
    const [resolved] = [...stores.contents.actions.values()].filter(({ provider_ref }) => provider_ref === 're_a')
    expect(resolved?.timeline.at(-1)).toMatchObject({
      what: 'incident_resolved',
      text: 'Expected change exp_1 covers it',
    })
    expect(await applied.apply('exp_1')).toBe('used_up')
  })

  test('keeps its use if an operation resolves the incident before the command is repeated', async () => {
    const { reconcile, refund, look, put, crash, operationOf, applied, covered, uses, clock } = harness()
    await reconcile(refund('a'))
    await reconcile(...look('a'))
    await clock.advance(MINUTE)
    await reconcile(refund('b'))
    await reconcile(...look('b'))
    put()
    crash('before the save')
    await expect(applied.apply('exp_1')).rejects.toThrow(Crash)
    expect([covered(), uses()]).toEqual([[], 1])
    await reconcile(operationOf('a'))
    expect(await applied.apply('exp_1')).toBe('applied')
    expect([covered(), uses()]).toEqual([['re_b'], 1])
  })

  test('that was stored without limits covers one change', async () => {
    const { reconcile, refund, look, put, covered, incidents, applied, stores } = harness()
    await reconcile(refund('a'), refund('b'))
    await reconcile(...look('a'), ...look('b'))
    put()
    const [{ max_changes: _changes, max_amount: _amount, ...old }] = stores.contents.expectedChanges as [
      ExpectedChangeDocument,
    ]
    stores.contents.expectedChanges.splice(0, 1, old)
    expect(await applied.apply('exp_1')).toBe('applied')
    expect(covered()).toHaveLength(1)
    expect(incidents()).toEqual(['open', 'resolved'])
  })

  test('leaves incidents open that it does not cover', async () => {
    const { reconcile, refund, look, put, incidents, applied } = harness()
    await reconcile(refund('a'), refund('b', 100))
    await reconcile(...look('a'), ...look('b'))
    put({ max_changes: 5, amount: 100, currency: 'eur' })
    await applied.apply('exp_1')
    expect(incidents()).toEqual(['open', 'resolved'])
    expect(await applied.apply('exp_none')).toBe('not_there')
  })
})

const POINTS: (CrashPoint | null)[] = [null, null, 'before the save', 'after the save']

test('an expected change never exceeds its limits, and its uses equal its covered actions, after a crash at any point', async () => {
  const step = fc.record({
    does: fc.constantFrom('look' as const, 'look' as const, 'operation' as const, 'apply' as const),
    names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1 }),
    dies: fc.constantFrom(...POINTS),
  })
  const limits = fc.record({
    max_changes: fc.integer({ min: 1, max: 3 }),
    max_amount: fc.constantFrom(null, 1_000, 2_500),
  })
  await fc.assert(
    fc.asyncProperty(limits, fc.array(step, { maxLength: 8 }), async (limit, steps) => {
      const { reconcile, refund, look, put, crash, operationOf, applied, stores, uses } = harness()
      const names = ['a', 'b', 'c', 'd']
      await reconcile(...names.map((name, index) => refund(name, 500 * (index + 1))))
      put({ ...limit, currency: 'eur' })
      for (const { does, names: about, dies } of steps) {
        const act = async () => {
          if (does === 'apply') await applied.apply('exp_1')
          else await reconcile(...about.flatMap(name => (does === 'look' ? look(name) : [operationOf(name)])))
        }
        if (dies !== null) crash(dies)
        await act().catch(() => act())
      }
      const covered = [...stores.contents.cases.values()]
        .flatMap(({ actions }) => actions)
        .filter(({ expectedChangeId }) => expectedChangeId === 'exp_1')
      expect(covered.length).toBeLessThanOrEqual(limit.max_changes)
      const money = covered.reduce((sum, { amount }) => sum + (amount ?? 0), 0)
      expect(money).toBeLessThanOrEqual(limit.max_amount ?? Number.POSITIVE_INFINITY)
      const stored = stores.contents.expectedChangeUses.get('exp_1')?.uses ?? []
      expect(stored.map(({ actionId }) => actionId).sort()).toEqual(covered.map(({ id }) => id).sort())
      expect(uses()).toBe(covered.length)
    }),
  )
})
