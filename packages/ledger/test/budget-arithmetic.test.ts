/** Compares the ledger's budgets with a model that adds and subtracts, over random orders of reports and times. */

import { type Budget, newId, type Operation, type OperationState } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { PendingOutbox } from '@backstop/kit/outbox'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { alertsOf, NOW, openProject, shareOf } from './books.ts'
import { openMemoryBooks } from './memory-books.ts'

const HOUR = 3_600_000
const STATES = [
  'requested',
  'approval_pending',
  'approved',
  'declined',
  'expired',
  'executing',
  'awaiting_review',
  'completed',
  'failed',
  'rejected',
] as const
const ASKED: readonly string[] = ['requested', 'approval_pending', 'approved']
const HELD: readonly string[] = [...ASKED, 'executing', 'awaiting_review']

type Step =
  | { kind: 'report'; isFirst: boolean; currency: 'eur' | 'usd'; amount: number; state: OperationState }
  | { kind: 'move'; which: number; to: OperationState }
  | { kind: 'pass'; hours: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('report' as const),
    isFirst: fc.boolean(),
    currency: fc.constantFrom('eur' as const, 'usd' as const),
    amount: fc.integer({ min: 0, max: 60 }),
    state: fc.constantFrom(...STATES),
  }),
  fc.record({ kind: fc.constant('move' as const), which: fc.nat(20), to: fc.constantFrom(...STATES) }),
  fc.record({ kind: fc.constant('pass' as const), hours: fc.integer({ min: 1, max: 40 }) }),
)

/** The amounts of a budget in each period, by the first day of the period. */
interface Sum {
  used: number
  reserved: number
  alerted: number
}

class Model {
  readonly sums = new Map<string, Sum>()
  /** By operation: the sums that it is part of. */
  readonly places = new Map<string, { sum: Sum; amount: number; isUsed: boolean }[]>()
  alerts = 0

  sumOf(budget: Budget, now: number): Sum {
    const day = new Date(now)
    day.setUTCHours(0, 0, 0, 0)
    if (budget.interval === 'week') while (day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
    if (budget.interval === 'month') day.setUTCDate(1)
    const key = `${budget.budget_id} ${day.getTime()}`
    const sum = this.sums.get(key) ?? { used: 0, reserved: 0, alerted: 0 }
    this.sums.set(key, sum)
    return sum
  }

  hasRoomFor(budgets: Budget[], amount: number, now: number): boolean {
    return budgets.every(budget => {
      const { used, reserved } = this.sumOf(budget, now)
      return used + reserved + amount <= budget.cap
    })
  }

  addShares(id: string, budgets: Budget[], amount: number, isUsed: boolean, now: number): void {
    const places = budgets.map(budget => {
      const sum = this.sumOf(budget, now)
      sum[isUsed ? 'used' : 'reserved'] += amount
      const reached = [100, 80, 50].find(percent => (sum.used + sum.reserved) * 100 >= budget.cap * percent) ?? 0
      if (reached > sum.alerted) this.alerts++
      sum.alerted = Math.max(sum.alerted, reached)
      return { sum, amount, isUsed }
    })
    this.places.set(id, places)
  }

  releaseShares(id: string, isSpent: boolean): void {
    for (const place of this.places.get(id) ?? []) {
      if (place.isUsed) continue
      place.sum.reserved -= place.amount
      if (isSpent) place.sum.used += place.amount
    }
    this.places.delete(id)
  }
}

async function runSteps(steps: Step[]): Promise<void> {
  const announced: PendingOutbox[] = []
  const books = openMemoryBooks({ announce: outbox => void announced.push(outbox) })
  const first = openProject()
  const second = openProject(first.id)
  const make = (currency: string, cap: number, interval: Budget['interval'], connection_id?: string) =>
    books.budgets.create(
      newId('budget'),
      {
        project_id: first.id,
        name: 'x',
        currency,
        cap,
        interval,
        ...(connection_id === undefined ? {} : { connection_id }),
      },
      NOW,
    )
  const budgets = [
    await make('eur', 100, 'day'),
    await make('eur', 150, 'week', first.connection._id),
    await make('usd', 80, 'month'),
  ]
  const model = new Model()
  const operations: Operation[] = []
  const moments = [NOW]
  let now = NOW
  const applying = (operation: Pick<Operation, 'currency' | 'connection_id' | 'amount'>) =>
    budgets.filter(
      budget =>
        budget.currency === operation.currency &&
        operation.amount !== 0 &&
        (budget.connection_id === null || budget.connection_id === operation.connection_id),
    )

  for (const one of steps) {
    if (one.kind === 'pass') {
      now += one.hours * HOUR
      moments.push(now)
    } else if (one.kind === 'report') {
      const { connection, report } = one.isFirst ? first : second
      const { amount, currency, state } = one
      const counted = applying({ currency, amount, connection_id: connection._id })
      const attempt = books.ledger.record(report({ amount, currency, state }), connection, now)
      if (ASKED.includes(state) && !model.hasRoomFor(counted, amount, now)) {
        await expect(attempt).rejects.toMatchObject({ code: 'budget_exceeded' })
      } else {
        const { operation } = await attempt
        operations.push(operation)
        const takes = HELD.includes(state) || state === 'completed'
        if (takes) model.addShares(operation.operation_id, counted, amount, state === 'completed', now)
      }
    } else {
      const before = operations[one.which]
      if (before === undefined) continue
      // Other tests cover which transitions are legal. The model follows the legal ones.
      const { operation: after } = await books.ledger
        .transition(before.operation_id, { to: one.to }, now)
        .catch(error => {
          if (error instanceof AppError && error.code === 'illegal_transition') return { operation: before }
          throw error
        })
      operations[one.which] = after
      if (after.state === before.state) continue
      const [held, holds] = [HELD.includes(before.state), HELD.includes(after.state)]
      if (held && !holds) model.releaseShares(after.operation_id, after.state === 'completed')
      const isAnew = ['declined', 'expired', 'failed'].includes(before.state)
      if (isAnew && (holds || after.state === 'completed')) {
        model.addShares(after.operation_id, applying(after), after.amount ?? 0, after.state === 'completed', now)
      }
    }
  }

  for (const moment of moments) {
    const usages = await books.budgets.usage(budgets, moment)
    const wanted = budgets.map(budget => model.sumOf(budget, moment))
    expect(usages.map(({ used, reserved }) => [used, reserved])).toEqual(wanted.map(sum => [sum.used, sum.reserved]))
    expect(usages.map(({ left }) => left)).toEqual(
      wanted.map(({ used, reserved }, index) => Math.max(0, budgets[index]!.cap - used - reserved)),
    )
  }
  // The shares of operations add up to the amounts of the budgets.
  const held = operations
    .flatMap(shareOf)
    .reduce((sum, [state, amount]) => sum + (state === 'reserved' ? Number(amount) : 0), 0)
  expect(held).toBe([...model.sums.values()].reduce((sum, { reserved }) => sum + reserved, 0))
  const caps = alertsOf(announced).filter(({ event }) => event === 'cap.threshold')
  expect(caps).toHaveLength(model.alerts)
}

test('budgets have the amounts of a model after any sequence of reports', async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40 }), runSteps), { numRuns: 400 })
})
