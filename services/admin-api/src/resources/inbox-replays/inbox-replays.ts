import { ID_PREFIXES, InboxReplay, InboxReplayQuery, NewInboxReplay } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { findConnection, findInProject } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { requestInboxReplay } from './request-inbox-replay.ts'
import { showInboxReplay } from './rules/inbox-replay.ts'

const tag = 'Inbox'
const REQUESTED = 'The replay is requested: read it again for its progress'
const EFFECT =
  'Each stored notification is decided again, as if it arrived now. What was already decided stays: no action is recorded twice and no alert is sent twice.'

/** /v1/inbox-replays */
export function inboxReplayRoutes(parts: AdminParts): Route[] {
  const { inboxReplayRequests, inboxReplays } = parts.stores
  return [
    replayEventRoute(parts),
    replayWindowRoute(parts),
    listRoute({
      path: '/v1/inbox-replays',
      operationId: 'listInboxReplays',
      tag,
      summary: 'List replays of notifications, newest first',
      items: 'replays',
      query: InboxReplayQuery,
      schema: InboxReplay,
      collection: inboxReplayRequests,
      sortedBy: 'requested_at',
      filter: ({ connection_id }) => ({ connection_id }),
      beside: inboxReplays,
      show: showInboxReplay,
    }),
    getRoute({
      path: '/v1/inbox-replays/{id}',
      operationId: 'getInboxReplay',
      tag,
      summary: 'Get the progress of a replay of notifications',
      item: 'replay',
      schema: InboxReplay,
      find: ({ params, principal }) => findInProject(inboxReplayRequests, principal, 'replay', params.id),
      show: async request => showInboxReplay(request, await inboxReplays.find({ _id: request._id })),
    }),
  ]
}

function replayEventRoute(parts: AdminParts): Route {
  const { inbox, inboxBodies } = parts.stores
  return defineRoute({
    method: 'post',
    path: '/v1/inbox/{connection_id}/{event_id}/replay',
    operationId: 'replayInboxEntry',
    tag,
    summary: 'Replay a notification',
    description: EFFECT,
    scope: 'manage',
    params: z.object({ connection_id: z.string(), event_id: z.string() }),
    answers: { 202: { description: REQUESTED, schema: InboxReplay } },
    refusals: ['not_found', 'conflict'],
    async handle({ params: { connection_id, event_id }, ...request }) {
      const id = `${connection_id}/${event_id}`
      const { project_id } = await findInProject(inbox, request.principal, 'notification', id)
      if (event_id.startsWith(`${ID_PREFIXES.deadLetter}_`)) {
        throw new AppError('conflict', `${id} is an object of a provider's answer; replay its dead letter instead`)
      }
      if ((await inboxBodies.find({ _id: id })) === undefined) {
        throw new AppError(
          'conflict',
          `The body of notification ${id} is not kept any more; let the provider send the event again`,
        )
      }
      const selection = { project_id, connection_id, event_ids: [event_id], from: null, to: null, outcome: null }
      return { status: 202, body: showInboxReplay(await requestInboxReplay(selection, request, parts), undefined) }
    },
  })
}

function replayWindowRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/inbox-replays',
    operationId: 'createInboxReplay',
    tag,
    summary: 'Replay the notifications of a connection in a window',
    description: `${EFFECT} Oldest first. A notification whose body is not kept any more is counted in \`skipped\`.`,
    scope: 'manage',
    body: NewInboxReplay,
    answers: { 202: { description: REQUESTED, schema: InboxReplay } },
    refusals: ['not_found'],
    async handle({ body, ...request }) {
      const connection = await findConnection(parts.stores, request.principal, body.connection_id)
      const selection = {
        project_id: connection.project_id,
        connection_id: connection._id,
        event_ids: null,
        from: new Date(body.from),
        to: new Date(body.to),
        outcome: body.outcome ?? null,
      }
      return { status: 202, body: showInboxReplay(await requestInboxReplay(selection, request, parts), undefined) }
    },
  })
}
