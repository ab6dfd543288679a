import { type ActionDocument, ActionQuery, ShownAction } from '@backstop/contracts'
import { findInProject } from '../../http/find-resource.ts'
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
      summary: 'List refunds and cancellations, newest first',
      description:
        'Each action has its verdict and the reason. `connection_id` selects every action that was seen through that connection.',
      items: 'actions',
      query: ActionQuery,
      schema: ShownAction,
      collection: stores.actions,
      sortedBy: 'first_seen',
      filter: ({ connection_id, verdict }) => ({ connection_ids: connection_id, verdict, merged_into: null }),
      show: showAction,
    }),
    getRoute({
      path: '/v1/actions/{id}',
      operationId: 'getAction',
      tag,
      summary: 'Get an action with its verdict, the reason and the timeline',
      description:
        '`why` contains the rule of the verdict, the operations that do not explain the action with the reason for each, and the answer of the provider if it was asked.',
      item: 'action',
      schema: ShownAction,
      find: ({ params, principal }) => findInProject(stores.actions, principal, 'action', params.id),
      show: showAction,
    }),
  ]
}

/** An action as the API shows it: without the internal fields of the reconciler. */
export function showAction(document: ActionDocument): ShownAction {
  const { _id, first_seen: _sortedBy, ...action } = document
  return { action_id: _id, ...action }
}
