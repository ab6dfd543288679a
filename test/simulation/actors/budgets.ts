import { wait } from '../world/agenda.ts'
import type { Account } from './accounts.ts'
import { Refused } from './api-user.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import type { BudgetTruth } from './truth.ts'
import type { World } from './world.ts'

/** A currency in which nothing else is refunded, so that only these operations count. */
const CURRENCY = 'chf'
const CAP = 10_000

/** Programs that request operations under one budget at the same time. */
export function drawBudgets(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'budget', count: scene.world.swarm().budgets }, spend)
}

async function spend({ world, random, customers }: Scene): Promise<void> {
  const account = random.pick(random.pick(customers).accounts)
  const projectId = account.truth.projectId
  const body = { project_id: projectId, name: 'Refunds', currency: CURRENCY, cap: CAP, interval: 'month' }
  const amount = random.between(1_500, 4_500)
  const { budget_id } = await world.api.post('/v1/budgets', body)
  const budget: BudgetTruth = {
    projectId,
    budgetId: String(budget_id),
    cap: CAP,
    amount,
    granted: 0,
    refused: 0,
    open: 0,
  }
  world.truth.budgets.push(budget)
  const count = random.between(3, 9)
  await Promise.all(Array.from({ length: count }, () => request({ world, account, amount, budget })))
  if (budget.refused > 0) world.happened('a budget refused an operation')
  await wait(world.clock, random.between(0, 5_000))
}

interface Request {
  readonly world: World
  readonly account: Account
  readonly amount: number
  readonly budget: BudgetTruth
}

async function request({ world, account, amount, budget }: Request): Promise<void> {
  const subject = `pi_budget_${world.api.newKey()}`
  budget.open += 1
  try {
    await account.report({ kind: 'refund', subject, amount, currency: CURRENCY, state: 'requested' })
    budget.granted += 1
  } catch (error) {
    if (!(error instanceof Refused) || (error.status !== 409 && error.status !== 404)) throw error
    if (error.status === 409) budget.refused += 1
  }
  budget.open -= 1
}
