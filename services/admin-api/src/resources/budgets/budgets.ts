import {
  type Budget,
  BudgetPatch,
  type BudgetUsage,
  ConnectionListQuery,
  NewBudget,
  ShownBudget,
} from '@backstop/contracts'
import { lostRace } from '@backstop/kit/errors'
import type { Budgets } from '@backstop/ledger'
import type { Principal } from '../../access/rules/access.ts'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findActiveProject, findConnection, projectFilterOf, requireInProject } from '../../http/find-resource.ts'
import { checkIfMatch } from '../../http/if-match.ts'
import { itemRoute, pagedRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, type RouteAnswer, versionedAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Budgets'

/** /v1/budgets */
export function budgetRoutes(parts: AdminParts): Route[] {
  const { budgets } = parts
  return [
    createRoute(parts),
    pagedRoute({
      path: '/v1/budgets',
      operationId: 'listBudgets',
      tag,
      summary: 'List budgets with their usage, newest first',
      items: 'budgets',
      query: ConnectionListQuery,
      schema: ShownBudget,
      async page({ query, principal, now }, place) {
        const { project_id: projectId } = projectFilterOf(principal, query.project_id)
        const found = await budgets.list({ projectId, connectionId: query.connection_id, ...place })
        return showBudgets(budgets, found, now)
      },
      placeOf: ({ created_at, budget_id }) => ({ at: new Date(created_at), id: budget_id }),
      show: budget => budget,
    }),
    itemRoute({
      path: '/v1/budgets/{id}',
      operationId: 'getBudget',
      tag,
      summary: 'Get a budget with what is used, reserved and left in the current period',
      item: 'budget',
      schema: ShownBudget,
      isVersioned: true,
      find: ({ params, principal }) => findBudget(budgets, principal, params.id),
      show: (budget, { now }) => showBudget(budgets, budget, now),
    }),
    changeRoute(parts),
    deleteRoute(parts),
  ]
}

function createRoute({ stores, budgets }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/budgets',
    operationId: 'createBudget',
    tag,
    summary: 'Create a budget for the operations of a project or of one connection',
    description:
      'Counts operations that are requested from now on: a request reserves its amount, completion spends it, and failure, decline, expiry or rejection releases it. A request that does not fit is refused (`budget_exceeded`); an operation that is reported as executing or completed is counted in any case. A reservation belongs to the period of its request. At 50, 80 and 100 % of the cap the alert `cap.threshold` is sent, once per period.',
    scope: 'manage',
    body: NewBudget,
    answers: { 201: { description: 'The budget; its version is the ETag', schema: ShownBudget } },
    refusals: ['not_found'],
    async handle({ body, principal, newId, now }) {
      const project = await findActiveProject(stores, principal, body.project_id)
      if (body.connection_id !== undefined) await findConnection(stores, principal, body.connection_id, project._id)
      const budget = await budgets.create(newId('budget'), body, now.getTime())
      const changed = auditedBudgetChange('budget.create', budget, { after: budget })
      return { ...versionedAnswer(201, await showBudget(budgets, budget, now)), changed }
    },
  })
}

function changeRoute({ budgets }: AdminParts): Route {
  return defineRoute({
    method: 'patch',
    path: '/v1/budgets/{id}',
    operationId: 'changeBudget',
    tag,
    summary: 'Change the name or the cap of a budget',
    description: 'A lower cap applies from the next request and changes no existing reservation. If-Match is optional.',
    scope: 'manage',
    body: BudgetPatch,
    answers: { 200: { description: 'The changed budget', schema: ShownBudget } },
    honoursIfMatch: true,
    async handle({ params, body, principal, ifMatch, now }) {
      const find = () => findBudget(budgets, principal, params.id)
      let before: Budget | undefined
      const budget = await changeCurrentVersion(find, ifMatch, read => {
        before = read
        return budgets.change(read, body, now.getTime())
      })
      const changed = auditedBudgetChange('budget.change', budget, { before, after: budget })
      return { ...versionedAnswer(200, await showBudget(budgets, budget, now)), changed }
    },
  })
}

function deleteRoute({ budgets }: AdminParts): Route {
  return defineRoute({
    method: 'delete',
    path: '/v1/budgets/{id}',
    operationId: 'deleteBudget',
    tag,
    summary: 'Delete a budget',
    description: 'The budget then limits no operations. If-Match is optional.',
    scope: 'manage',
    answers: { 204: { description: 'The budget is deleted' } },
    honoursIfMatch: true,
    async handle({ params, principal, ifMatch, now }) {
      const find = () => findBudget(budgets, principal, params.id)
      const remove = async (read: Budget) => ((await budgets.remove(read, now.getTime())) ? read : undefined)
      const removed = await changeCurrentVersion(find, ifMatch, remove)
      return { status: 204, changed: auditedBudgetChange('budget.delete', removed, { before: removed }) }
    },
  })
}

/** Each failed try means a concurrent change. More than this many in a row indicate a bug. */
const MAX_TRIES = 10

/** Changes a budget if it still has the version that was read, and tries again after a concurrent change. */
async function changeCurrentVersion(
  find: () => Promise<Budget>,
  ifMatch: string | undefined,
  change: (read: Budget) => Promise<Budget | undefined>,
): Promise<Budget> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const read = await find()
    checkIfMatch(ifMatch, read.version)
    const changed = await change(read)
    if (changed !== undefined) return changed
  }
  throw lostRace('the budget')
}

async function findBudget(budgets: Budgets, principal: Principal, id: string): Promise<Budget> {
  return requireInProject(await budgets.get(id), principal, 'budget', id)
}

async function showBudgets(budgets: Budgets, found: readonly Budget[], now: Date): Promise<ShownBudget[]> {
  const usages = await budgets.usage(found, now.getTime())
  return found.map((budget, index) => {
    const usage = usages[index] as BudgetUsage
    return { ...budget, current: { ...usage, overspent: overspentAmount(budget, usage) } }
  })
}

function overspentAmount({ cap }: Budget, { used, reserved }: BudgetUsage): number {
  return Math.min(Math.max(0, used + reserved - cap), Number.MAX_SAFE_INTEGER)
}

async function showBudget(budgets: Budgets, budget: Budget, now: Date): Promise<ShownBudget> {
  const [shown] = await showBudgets(budgets, [budget], now)
  return shown as ShownBudget
}

function auditedBudgetChange(
  action: string,
  { budget_id: target, project_id: projectId }: Budget,
  { before, after }: { readonly before?: Budget | undefined; readonly after?: Budget },
): NonNullable<RouteAnswer['changed']> {
  return { action, target, projectId, changes: listChangedFields(target, before, after) }
}
