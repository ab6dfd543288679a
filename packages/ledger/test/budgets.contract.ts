/** Budgets over any store: run by ledger.test.ts (memory) and ledger.integration-test.ts (MongoDB). */
import { type Budget, type NewBudget, type NewOperation, newId, type OperationState } from '@backstop/contracts'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { alertsOf, NOW, type OpenTestBooks, openProject, shareOf, type TestBooks, type TestProject } from './books.ts'

const DAY = 86_400_000

export function describeBudgets(name: string, open: OpenTestBooks): void {
  describe(`budgets in ${name}`, () => {
    let books: TestBooks
    let project: TestProject
    const announced: PendingOutbox[] = []
    const budget = (more: Partial<NewBudget> = {}): Promise<Budget> =>
      books.budgets.create(
        newId('budget'),
        { project_id: project.id, name: 'Refunds', currency: 'eur', cap: 10_000, interval: 'day', ...more },
        NOW,
      )
    const record = async (more: Partial<NewOperation> = {}, now = NOW) =>
      (await books.ledger.record(project.report(more), project.connection, now)).operation
    const move = async (operation: { operation_id: string }, to: OperationState, now = NOW + 1) =>
      (await books.ledger.transition(operation.operation_id, { to }, now)).operation
    const usage = async (of: Budget, now = NOW) => {
      const [{ used, reserved, left } = { used: -1, reserved: -1, left: -1 }] = await books.budgets.usage([of], now)
      return [used, reserved, left]
    }

    beforeAll(async () => {
      books = await open({ announce: outbox => void announced.push(outbox) })
    })
    beforeEach(() => {
      project = openProject()
      announced.length = 0
    })

    test('a repeat gets its operation if the budget has no room for a second one', async () => {
      const day = await budget({ cap: 2_000 })
      const id = newId('operation')
      const report = (more: Partial<NewOperation>, operationId?: string) =>
        books.ledger.record(
          project.report(more),
          project.connection,
          NOW,
          operationId === undefined ? {} : { operationId },
        )
      const repeats = [() => report({}, id), () => report({ idempotency_key: 'k', amount: 700 })]
      for (const repeat of repeats) {
        const { operation } = await repeat()
        expect(await repeat()).toMatchObject({ operation })
      }
      expect(await usage(day)).toEqual([0, 1900, 100])
    })

    test('concurrent reports under one key get one operation if the budget has no room for a second one', async () => {
      const day = await budget({ cap: 2_000 })
      const operations = await Promise.all(Array.from({ length: 10 }, () => record({ idempotency_key: 'k' })))
      expect(new Set(operations.map(({ operation_id }) => operation_id)).size).toBe(1)
      expect(await usage(day)).toEqual([0, 1200, 800])
    })

    describe('amounts after reports', () => {
      const stories: { name: string; given: Partial<NewOperation>; to?: OperationState[]; wanted: number[] }[] = [
        { name: 'a request reserves', given: {}, wanted: [0, 1200, 8800] },
        {
          name: 'an operation that waits for approval reserves',
          given: { state: 'approval_pending' },
          wanted: [0, 1200, 8800],
        },
        { name: 'an executing operation reserves', given: { state: 'executing' }, wanted: [0, 1200, 8800] },
        {
          name: 'a further state changes nothing',
          given: {},
          to: ['executing', 'awaiting_review'],
          wanted: [0, 1200, 8800],
        },
        { name: 'completion spends', given: {}, to: ['executing', 'completed'], wanted: [1200, 0, 8800] },
        { name: 'an operation reported as completed spends', given: { state: 'completed' }, wanted: [1200, 0, 8800] },
        { name: 'failure releases', given: {}, to: ['executing', 'failed'], wanted: [0, 0, 10_000] },
        { name: 'failure without executing releases', given: {}, to: ['failed'], wanted: [0, 0, 10_000] },
        {
          name: 'a rejected review releases',
          given: {},
          to: ['executing', 'awaiting_review', 'rejected'],
          wanted: [0, 0, 10_000],
        },
        {
          name: 'an accepted review spends',
          given: {},
          to: ['awaiting_review', 'completed'],
          wanted: [1200, 0, 8800],
        },
        { name: 'declining releases', given: {}, to: ['approval_pending', 'declined'], wanted: [0, 0, 10_000] },
        { name: 'expiry releases', given: {}, to: ['approval_pending', 'expired'], wanted: [0, 0, 10_000] },
        {
          name: 'executing against a decision counts again',
          given: {},
          to: ['approval_pending', 'declined', 'executing'],
          wanted: [0, 1200, 8800],
        },
        {
          name: 'completing against a decision spends',
          given: {},
          to: ['approval_pending', 'expired', 'completed'],
          wanted: [1200, 0, 8800],
        },
        { name: 'an operation reported as failed takes nothing', given: { state: 'failed' }, wanted: [0, 0, 10_000] },
        { name: 'another currency takes nothing', given: { currency: 'usd' }, wanted: [0, 0, 10_000] },
        { name: 'an amount of 0 takes nothing', given: { amount: 0 }, wanted: [0, 0, 10_000] },
        {
          name: 'a cancellation without an amount takes nothing',
          given: { kind: 'cancellation', amount: undefined, currency: undefined },
          wanted: [0, 0, 10_000],
        },
        {
          name: 'a cancellation with an amount takes it',
          given: { kind: 'cancellation' },
          wanted: [0, 1200, 8800],
        },
        {
          name: 'an executed refund of unknown amount takes nothing',
          given: { state: 'completed', amount: undefined },
          wanted: [0, 0, 10_000],
        },
      ]
      test.each(stories)('$name', async ({ given, to = [], wanted }) => {
        const day = await budget()
        const operation = await record(given)
        for (const state of to) await move(operation, state)
        expect(await usage(day)).toEqual(wanted)
      })

      test('an operation shows its share of each budget and the state of the share', async () => {
        const day = await budget()
        const operation = await record()
        const share = { budget_id: day.budget_id, period_start: '2026-11-21', amount: 1200 }
        expect(operation.budgets).toEqual([{ ...share, state: 'reserved' }])
        expect((await move(operation, 'completed')).budgets).toEqual([{ ...share, state: 'spent' }])
        expect((await books.ledger.get(operation.operation_id))?.budgets).toEqual([{ ...share, state: 'spent' }])
      })

      test('a declined and an expired operation release their reservation', async () => {
        await books.requireApproval(project.id, 60)
        const day = await budget()
        const [declined, left] = [await record(), await record()]
        expect(await usage(day)).toEqual([0, 2400, 7600])
        await books.ledger.decide(declined.operation_id, { to: 'declined', approverId: 'key_1' }, NOW + 1)
        expect(await usage(day)).toEqual([0, 1200, 8800])
        expect(await books.ledger.fireTimer(left.operation_id, NOW + 60_000)).toBe('expired')
        expect(await usage(day)).toEqual([0, 0, 10_000])
        expect(shareOf((await books.ledger.get(left.operation_id))!)).toEqual([['released', 1200]])
      })

      test('a repeated report takes no second share', async () => {
        const day = await budget()
        const key = { idempotency_key: newId('message') }
        await Promise.all(Array.from({ length: 10 }, () => record(key)))
        expect(await usage(day)).toEqual([0, 1200, 8800])
        await Promise.all(Array.from({ length: 10 }, () => record({ ...key, state: 'completed' }, NOW + 1)))
        expect(await usage(day)).toEqual([1200, 0, 8800])
      })
    })

    describe('that are too small', () => {
      test('refuse a request with their name and the remaining amount, and store nothing', async () => {
        const day = await budget({ cap: 2000 })
        await record()
        const id = newId('operation')
        const refused = books.ledger.record(project.report(), project.connection, NOW, { operationId: id })
        await expect(refused).rejects.toMatchObject({
          code: 'budget_exceeded',
          refusal: {
            kind: 'budget_exceeded',
            budget: { budget_id: day.budget_id, cap: 2000, currency: 'eur' },
            left: 800,
            periodEndsAt: '2026-11-22T00:00:00.000Z',
            operation: { amount: 1200 },
          },
        })
        expect(await books.ledger.get(id)).toBeUndefined()
        expect(await usage(day)).toEqual([0, 1200, 800])
        expect(await record({ amount: 800 })).toMatchObject({ state: 'requested' })
        expect(await usage(day)).toEqual([0, 2000, 0])
      })

      test('count an executed operation even beyond the cap', async () => {
        const day = await budget({ cap: 1000 })
        await record({ state: 'executing' })
        await record({ state: 'completed' })
        expect(await usage(day)).toEqual([1200, 1200, 0])
        await expect(record({ amount: 1 })).rejects.toMatchObject({ code: 'budget_exceeded' })
      })

      test('are refused with the one that has the least left, and none of them is charged', async () => {
        const [wide, tight, other] = [
          await budget({ cap: 1100 }),
          await budget({ cap: 700, interval: 'month', connection_id: project.connection._id }),
          await budget({ cap: 5000, interval: 'week' }),
        ]
        await expect(record()).rejects.toMatchObject({ refusal: { budget: { budget_id: tight.budget_id }, left: 700 } })
        for (const one of [wide, tight, other]) expect(await usage(one)).toEqual([0, 0, one.cap])
      })

      test('refuse a refund without an amount', async () => {
        const { budget_id } = await budget({ currency: 'usd' })
        for (const more of [
          { amount: undefined, currency: undefined },
          { currency: undefined },
          { amount: undefined, currency: 'usd' },
        ]) {
          await expect(record(more)).rejects.toMatchObject({
            code: 'invalid_request',
            refusal: { kind: 'uncountable', budget: { budget_id } },
          })
        }
        expect(await record({ amount: undefined, currency: 'eur' })).toMatchObject({ budgets: [] })
      })
    })

    test('apply by project, by connection and by currency', async () => {
      const all = await budget()
      const mine = await budget({ connection_id: project.connection._id })
      const foreign = await budget({ connection_id: newId('connection') })
      const dollars = await budget({ currency: 'usd' })
      const elsewhere = await books.budgets.create(
        newId('budget'),
        { project_id: newId('project'), name: 'x', currency: 'eur', cap: 10_000, interval: 'day' },
        NOW,
      )
      expect(shareOf(await record())).toEqual([
        ['reserved', 1200],
        ['reserved', 1200],
      ])
      for (const [one, reserved] of [
        [all, 1200],
        [mine, 1200],
        [foreign, 0],
        [dollars, 0],
        [elsewhere, 0],
      ] as const) {
        expect(await usage(one)).toEqual([0, reserved, 10_000 - reserved])
      }
    })

    test('start at zero in each period, and reservations stay in their period', async () => {
      const day = await budget({ cap: 1500 })
      const operation = await record()
      await expect(record()).rejects.toMatchObject({ code: 'budget_exceeded' })
      expect(await usage(day, NOW + DAY)).toEqual([0, 0, 1500])
      await record({}, NOW + DAY)
      await move(operation, 'completed', NOW + DAY)
      expect(await usage(day)).toEqual([1200, 0, 300])
      expect(await usage(day, NOW + DAY)).toEqual([0, 1200, 300])
    })

    describe('cap alerts', () => {
      const percents = () => alertsOf(announced).map(({ event, data }) => [event, data.percent])

      test('are sent at 50, 80 and 100 percent, once each', async () => {
        const day = await budget({ cap: 1000 })
        for (const amount of [499, 1, 299, 1, 199, 1]) await record({ amount })
        expect(percents()).toEqual([
          ['cap.threshold', 50],
          ['cap.threshold', 80],
          ['cap.threshold', 100],
        ])
        expect(alertsOf(announced).at(-1)?.data).toMatchObject({
          budget: day,
          current: { used: 0, reserved: 1000, left: 0, starts_at: '2026-11-21T00:00:00.000Z' },
          operation: { amount: 1 },
        })
      })

      test('are sent once if several shares are reached at once', async () => {
        await budget({ cap: 1300 })
        await record()
        expect(percents()).toEqual([['cap.threshold', 80]])
        await record({ amount: 100 })
        expect(percents()).toEqual([
          ['cap.threshold', 80],
          ['cap.threshold', 100],
        ])
      })

      test('are not repeated after a release in the same period, but again in the next period', async () => {
        await budget({ cap: 2000 })
        await move(await record(), 'failed')
        await record()
        expect(percents()).toEqual([['cap.threshold', 50]])
        await record({}, NOW + DAY)
        expect(percents()).toEqual([
          ['cap.threshold', 50],
          ['cap.threshold', 50],
        ])
      })

      test('are sent if the cap is exceeded', async () => {
        await budget({ cap: 1000 })
        await record({ state: 'completed' })
        await record({ state: 'completed' })
        expect(percents()).toEqual([['cap.threshold', 100]])
      })

      test('are not sent for refused or released operations', async () => {
        await budget({ cap: 1000 })
        const operation = await record({ amount: 400 })
        await expect(record({ amount: 700 })).rejects.toMatchObject({ code: 'budget_exceeded' })
        await move(operation, 'completed')
        expect(percents()).toEqual([])
      })
    })

    describe('budgets of people', () => {
      test('are created, read, changed and deleted', async () => {
        const made = await budget({ connection_id: project.connection._id, interval: 'week' })
        expect(made).toEqual({
          budget_id: expect.stringMatching(/^bud_/),
          project_id: project.id,
          connection_id: project.connection._id,
          name: 'Refunds',
          currency: 'eur',
          cap: 10_000,
          interval: 'week',
          version: 1,
          created_at: new Date(NOW).toISOString(),
          updated_at: new Date(NOW).toISOString(),
        })
        expect(await books.budgets.get(made.budget_id)).toEqual(made)
        const changed = await books.budgets.change(made, { cap: 5 }, NOW + 1)
        expect(changed).toMatchObject({ cap: 5, name: 'Refunds', version: 2 })
        expect(await books.budgets.change(made, { cap: 6 }, NOW + 2)).toBeUndefined()
        expect(await books.budgets.remove(made, NOW + 3)).toBe(false)
        expect(await books.budgets.remove(changed!, NOW + 3)).toBe(true)
        expect(await books.budgets.get(made.budget_id)).toBeUndefined()
        expect(await books.budgets.list({ projectId: project.id, limit: 10 })).toEqual([])
      })

      test('are one budget if they are created twice with one id', async () => {
        const id = newId('budget')
        const given = { project_id: project.id, name: 'x', currency: 'eur', cap: 1, interval: 'day' } as const
        const first = await books.budgets.create(id, given, NOW)
        expect(await books.budgets.create(id, given, NOW + 5)).toEqual(first)
      })

      test('limit nothing after they are deleted, and existing shares are still released or spent', async () => {
        const day = await budget({ cap: 1200 })
        const operation = await record()
        await books.budgets.remove(day, NOW)
        expect(await record()).toMatchObject({ budgets: [] })
        expect(shareOf(await move(operation, 'completed'))).toEqual([['spent', 1200]])
      })

      test('check requests against a changed cap', async () => {
        const day = await budget({ cap: 1200 })
        await record()
        const raised = await books.budgets.change(day, { cap: 2400 }, NOW)
        await record()
        expect(await usage(raised!)).toEqual([0, 2400, 0])
        const lowered = await books.budgets.change(raised!, { cap: 100 }, NOW)
        expect(await usage(lowered!)).toEqual([0, 2400, 0])
        await expect(record({ amount: 1 })).rejects.toMatchObject({ code: 'budget_exceeded' })
      })

      test('are listed newest first, page by page, by project and connection', async () => {
        const made = []
        for (let i = 0; i < 5; i++) {
          const given = { project_id: project.id, name: `${i}`, currency: 'eur', cap: 1, interval: 'day' } as const
          made.push(await books.budgets.create(newId('budget'), given, NOW + Math.floor(i / 2)))
        }
        const all = await books.budgets.list({ projectId: project.id, limit: 10 })
        expect(all.map(({ name: title }) => title)[0]).toBe('4')
        expect(all).toHaveLength(5)
        const last = all[1]!
        const after = { at: new Date(last.created_at), id: last.budget_id }
        expect(await books.budgets.list({ projectId: project.id, limit: 10, after })).toEqual(all.slice(2))
        expect(await books.budgets.list({ connectionId: 'con_none', limit: 10 })).toEqual([])
        expect(made).toHaveLength(5)
      })
    })
  })
}
