import {
  ApprovalDecision,
  ID_PREFIXES,
  NamedOperation,
  NewOperation,
  NewTransition,
  OperationQuery,
  ShownOperation,
  showOperation,
} from '@backstop/contracts'
import type { Decision } from '@backstop/ledger'
import { projectFilterOf } from '../../http/find-resource.ts'
import { itemRoute, pagedRoute, windowOf } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { findOperation, moveOperation, operationAuditRow, recordReport } from './report.ts'
import { batchRoute } from './report-batch.ts'

const tag = 'Operations'

/** /v1/operations */
export function operationRoutes(parts: AdminParts): Route[] {
  const { ledger } = parts
  return [
    createRoute(parts),
    transitionRoute(parts),
    batchRoute(parts),
    pagedRoute({
      path: '/v1/operations',
      operationId: 'listOperations',
      tag,
      summary: 'List operations, newest first',
      items: 'operations',
      isStreamable: true,
      query: OperationQuery,
      schema: ShownOperation,
      page: ({ query, principal }, { after, limit }) =>
        ledger.list({
          projectId: projectFilterOf(principal, query.project_id).project_id,
          connectionId: query.connection_id,
          kind: query.kind,
          state: query.state,
          subject: query.subject,
          providerRef: query.provider_ref,
          runId: query.run_id,
          currency: query.currency,
          minAmount: query.min_amount,
          maxAmount: query.max_amount,
          from: windowOf(query).from,
          to: windowOf(query).before,
          after: after && { createdAt: after.at.toISOString(), operationId: after.id },
          limit,
        }),
      placeOf: ({ created_at, operation_id }) => ({ at: new Date(created_at), id: operation_id }),
      show: showOperation,
    }),
    itemRoute({
      path: '/v1/operations/{id}',
      operationId: 'getOperation',
      tag,
      summary: 'Get an operation',
      item: 'operation',
      schema: NamedOperation,
      find: ({ params, principal }) => findOperation(ledger, principal, params.id),
      show: async operation => ({
        ...showOperation(operation),
        decided_by_name: await findName(parts, operation.approval?.decided_by ?? null),
      }),
    }),
  ]
}

/** The name of an API key or person. */
async function findName({ stores }: Pick<AdminParts, 'stores'>, id: string | null): Promise<string | null> {
  if (id === null) return null
  const principals = id.startsWith(`${ID_PREFIXES.person}_`) ? stores.people : stores.apiKeys
  return (await principals.find({ _id: id }))?.name ?? null
}

function createRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/operations',
    operationId: 'createOperation',
    tag,
    summary: 'Report a refund or cancellation that your software requests or makes',
    description:
      'An operation can be reported in any state. A report with the same `idempotency_key` and connection answers the stored operation; if its state is later, the operation moves there, as by a transition. A field that is null or left out changes nothing. If the project requires approval, a request becomes `approval_pending`; if it exceeds a budget, it is refused.',
    scope: 'operations:write',
    body: NewOperation,
    answers: {
      201: { description: 'The new operation', schema: ShownOperation },
      200: {
        description: 'The operation that was stored before under this idempotency_key',
        schema: ShownOperation,
      },
    },
    refusals: ['not_found', 'idempotency_conflict', 'budget_exceeded', 'illegal_transition', 'conflict'],
    handle: ({ body, principal, newId, now, auditRow }) =>
      recordReport(parts, body, { id: newId('operation'), principal, now, auditRow }),
  })
}

function transitionRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/operations/{id}/transitions',
    operationId: 'transitionOperation',
    tag,
    summary: 'Report the next state of an operation',
    description:
      'requested → (approval_pending → approved | declined | expired) → executing → (awaiting_review) → completed | failed | rejected. States in between may be left out. If the project requires approval, only POST …/approve gives it; an operation that executes without it is recorded as `unapproved` and explains nothing. Otherwise no approval is needed, and the reporter may report `approved` like every other state. Reporting the same state again changes nothing.',
    scope: 'operations:write',
    body: NewTransition,
    answers: { 200: { description: 'The operation after the change', schema: ShownOperation } },
    refusals: ['illegal_transition', 'conflict'],
    handle: ({ params, body, principal, now, auditRow }) =>
      moveOperation(parts, params.id, body, { principal, now, auditRow }),
  })
}

/** /v1/operations/{id}/approve and …/decline */
export function approvalRoutes(parts: AdminParts): Route[] {
  return [
    decisionRoute(parts, {
      to: 'approved',
      verb: 'approve',
      summary: 'Approve an operation that waits for approval',
      description: 'The operation may then be executed.',
    }),
    decisionRoute(parts, {
      to: 'declined',
      verb: 'decline',
      summary: 'Decline an operation that waits for approval',
      description:
        'Releases the budget reservations of the operation. If the operation is executed nevertheless, it explains nothing.',
    }),
  ]
}

interface DecisionTexts {
  readonly to: Decision['to']
  readonly verb: 'approve' | 'decline'
  readonly summary: string
  readonly description: string
}

function decisionRoute({ ledger }: AdminParts, { to, verb, summary, description }: DecisionTexts): Route {
  return defineRoute({
    method: 'post',
    path: `/v1/operations/{id}/${verb}`,
    operationId: `${verb}Operation`,
    tag: 'Approvals',
    summary,
    description: `${description} Possible until the deadline; repeating the decision changes nothing. Whoever reported an operation may decline it, and may not approve it.`,
    scope: 'approvals:write',
    body: ApprovalDecision,
    answers: { 200: { description: 'The operation after the change', schema: ShownOperation } },
    refusals: ['illegal_transition', 'conflict'],
    async handle({ params, body, principal, now, auditRow }) {
      await findOperation(ledger, principal, params.id)
      const decision = { to, approverId: principal.id, reason: body.reason }
      const makeAuditRow = operationAuditRow(auditRow, `operation.${verb}`)
      const { operation } = await ledger.decide(params.id, decision, now.getTime(), makeAuditRow)
      return { status: 200, body: showOperation(operation) }
    },
  })
}
