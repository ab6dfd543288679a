import { type ActionDocument, ActionQuery, listOf, ShownAction } from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../../access/rules/access.ts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { notFound, projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Actions'

/** /v1/actions */
export function actionRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/actions',
      operationId: 'listActions',
      tag,
      summary: 'List refunds and cancellations that were seen, newest first',
      description:
        'Each with its verdict and why. `connection_id` finds what was seen through that connection, also first or only.',
      scope: 'read',
      query: ActionQuery,
      answers: { 200: { description: 'A page of actions', schema: listOf(ShownAction) } },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        const where = {
          ...projectFilter(principal, query.project_id),
          ...(query.connection_id === undefined ? {} : { connection_ids: query.connection_id }),
          ...(query.verdict === undefined ? {} : { verdict: query.verdict }),
          merged_into: null,
        }
        const after = decodeCursor(query.cursor)
        const found = await stores.actions.page({ where, by: 'first_seen', after, limit: query.limit + 1 })
        const placeOf = (action: ActionDocument) => ({ at: action.first_seen, id: action._id })
        return { status: 200, body: toPage(found, query.limit, placeOf, showAction) }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/actions/{id}',
      operationId: 'getAction',
      tag,
      summary: 'Read an action with its verdict, why it has it, and its timeline',
      description:
        '`why` holds the rule that gave the verdict, each operation that does not explain it with the reason, and whether the provider was asked.',
      scope: 'read',
      params: z.object({ id: z.string() }),
      answers: { 200: { description: 'The action', schema: ShownAction } },
      refusals: ['not_found'],
      async handle({ params, principal }) {
        const action = await stores.actions.find({ _id: params.id, ...ownProject(principal) })
        if (action === undefined) throw notFound('action', params.id)
        return { status: 200, body: showAction(action) }
      },
    }),
  ]
}

/** An action as it is shown: what its owner keeps beside the contract's fields stays inside. */
export function showAction(document: ActionDocument): ShownAction {
  const { _id, first_seen: _sortedBy, ...action } = document
  return { action_id: _id, ...action }
}
