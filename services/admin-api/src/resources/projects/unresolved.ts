import { ActionKind, Unresolved } from '@backstop/contracts'
import { LRUCache } from 'lru-cache'
import { findProject } from '../../http/find-resource.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { sumUnresolved } from './rules/sum-unresolved.ts'

/** How long a count is reused, in milliseconds: many people watch the same overview during a storm. */
const REUSE_MS = 1_000
const REUSED_PROJECTS = 1_000
const PAGE = 1_000

type Parts = Pick<AdminParts, 'stores' | 'ledger'>

/** GET /v1/projects/{id}/unresolved. @param timer measures the age of counts */
export function unresolvedRoute(parts: Parts, timer: { now(): number } = performance): Route {
  const counts = new LRUCache<string, Unresolved>({
    max: REUSED_PROJECTS,
    ttl: REUSE_MS,
    ttlResolution: 0,
    perf: timer,
    fetchMethod: projectId => countUnresolved(parts, projectId),
  })
  return defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/unresolved',
    operationId: 'getUnresolved',
    tag: 'Projects',
    summary: 'Count what waits for a person or for a second look',
    description:
      'The incidents that nobody resolved, with their money, the actions that are being checked, and the approvals that wait. Everything is counted, however many there are. The answer may be a second old.',
    scope: 'read',
    answers: { 200: { description: 'The counts', schema: Unresolved } },
    async handle({ params, principal }) {
      const { _id } = await findProject(parts.stores, principal, params.id)
      return { status: 200, body: await counts.forceFetch(_id) }
    },
  })
}

async function countUnresolved({ stores, ledger }: Parts, project_id: string): Promise<Unresolved> {
  const sum = sumUnresolved()
  const unresolved = { project_id, state: { in: ['open', 'acknowledged'] as const } }
  for await (const incidents of stores.incidents.batches(unresolved, ['state', 'opened_at', 'action_id'])) {
    const ids = sum.addIncidents(incidents)
    if (ids.length === 0) continue
    const fields = ['verdict', 'amount', 'currency', 'mode', 'state'] as const
    for await (const actions of stores.actions.batches({ _id: { in: ids } }, fields)) sum.addActions(actions)
  }
  let being_checked = 0
  // The index of pending actions is small. A merged action keeps its verdict, but is part of another action.
  const checked = { verdict: 'pending', project_id, kind: { in: ActionKind.options }, merged_into: null } as const
  for await (const actions of stores.actions.batches(checked, [])) being_checked += actions.length
  return { ...sum.show(), being_checked, approvals_pending: await countApprovals(ledger, project_id) }
}

async function countApprovals(ledger: Parts['ledger'], projectId: string): Promise<number> {
  const waiting = { projectId, state: 'approval_pending', limit: PAGE } as const
  let count = 0
  let page = await ledger.list(waiting)
  count += page.length
  for (let last = page.at(-1); page.length === PAGE && last !== undefined; last = page.at(-1)) {
    page = await ledger.list({ ...waiting, after: { createdAt: last.created_at, operationId: last.operation_id } })
    count += page.length
  }
  return count
}
