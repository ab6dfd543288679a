import { type ActionDocument, ActionQuery, ShownAction } from '@backstop/contracts'
import { findOwn } from '../../http/found.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Actions'

/** /v1/actions */
export function actionRoutes({ stores }: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/actions',
      operationId: 'listActions',
      tag,
      summary: 'List refunds and cancellations that were seen, newest first',
      description:
        'Each with its verdict and why. `connection_id` finds what was seen through that connection, also first or only.',
      items: 'actions',
      query: ActionQuery,
      schema: ShownAction,
      shelf: stores.actions,
      sortedBy: 'first_seen',
      filter: ({ connection_id, verdict }) => ({ connection_ids: connection_id, verdict, merged_into: null }),
      show: showAction,
    }),
    getRoute({
      path: '/v1/actions/{id}',
      operationId: 'getAction',
      tag,
      summary: 'Read an action with its verdict, why it has it, and its timeline',
      description:
        '`why` holds the rule that gave the verdict, each operation that does not explain it with the reason, and whether the provider was asked.',
      item: 'action',
      schema: ShownAction,
      find: ({ params, principal }) => findOwn(stores.actions, principal, 'action', params.id),
      show: showAction,
    }),
  ]
}

/** An action as it is shown: what its owner keeps beside the contract's fields stays inside. */
export function showAction(document: ActionDocument): ShownAction {
  const { _id, first_seen: _sortedBy, ...action } = document
  return { action_id: _id, ...action }
}
