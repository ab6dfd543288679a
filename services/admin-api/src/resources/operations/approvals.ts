import { ApprovalDecision, ShownOperation, showOperation } from '@backstop/contracts'
import type { Decision } from '@backstop/ledger'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { auditedOperationChange, findOperation } from './operations.ts'

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
    async handle({ params, body, principal, now }) {
      const before = await findOperation(ledger, principal, params.id)
      const decision = { to, approverId: principal.id, reason: body.reason }
      const operation = await ledger.decide(params.id, decision, now.getTime())
      const answer = { status: 200, body: showOperation(operation) }
      if (operation.version === before.version) return answer
      return { ...answer, changed: auditedOperationChange(operation, `operation.${verb}`, before) }
    },
  })
}
