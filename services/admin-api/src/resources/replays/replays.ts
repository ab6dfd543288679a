import { listOf, NewReplay, Replay, ReplayQuery, type ReplayRequestDocument } from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../../access/rules/access.ts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { findChannel, notFound, projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { judgeSendingAgain } from '../deliveries/rules/delivery.ts'
import { refuseSendingAgain } from '../deliveries/send-again.ts'
import { showReplay } from './rules/replay.ts'

const tag = 'Replays'

/** /v1/replays */
export function replayRoutes(parts: AdminParts): Route[] {
  return [createRoute(parts), listRoute(parts), getRoute(parts)]
}

function createRoute({ stores, commands }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/replays',
    operationId: 'createReplay',
    tag,
    summary: 'Send again what did not arrive',
    description:
      'Every dead delivery of the channel that was begun in the window, `to` excluded, begins its retries anew, oldest first and as fast as the channel takes it. What arrived is never sent again.',
    scope: 'manage',
    body: NewReplay,
    answers: { 202: { description: 'It is asked for: read it again to see how far it is', schema: Replay } },
    refusals: ['not_found', 'conflict'],
    async handle({ body, principal, newId, now, change }) {
      const channel = await findChannel(stores, principal, body.channel_id)
      const health = await stores.channelHealth.find({ _id: channel._id })
      refuseSendingAgain(judgeSendingAgain(channel, health), 'Nothing is sent again')
      const request: ReplayRequestDocument = {
        _id: newId('replay'),
        project_id: channel.project_id,
        channel_id: channel._id,
        from: new Date(body.from),
        to: new Date(body.to),
        requested_at: now,
      }
      // Sent first: a request that is stored and was never sent would be shown as waiting for ever.
      await commands.send([
        {
          kind: 'replay_deliveries',
          command_id: newId('command'),
          project_id: request.project_id,
          requested_at: now.toISOString(),
          replay_id: request._id,
          channel_id: request.channel_id,
          from: request.from.toISOString(),
          to: request.to.toISOString(),
        },
      ])
      await change(
        ({ replayRequests }) => replayRequests.put(request),
        () => ({ action: 'replay.create', target: request._id, projectId: request.project_id }),
      )
      return { status: 202, body: showReplay(request, undefined) }
    },
  })
}

function listRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/replays',
    operationId: 'listReplays',
    tag,
    summary: 'List replays, newest first',
    scope: 'read',
    query: ReplayQuery,
    answers: { 200: { description: 'A page of replays', schema: listOf(Replay) } },
    refusals: ['not_found'],
    async handle({ query, principal }) {
      const where = { ...projectFilter(principal, query.project_id), channel_id: query.channel_id }
      const after = decodeCursor(query.cursor)
      const found = await stores.replayRequests.page({ where, by: 'requested_at', after, limit: query.limit + 1 })
      const begun = await stores.replays.findAll({ _id: { in: found.map(({ _id }) => _id) } })
      const progressOf = new Map(begun.map(one => [one._id, one]))
      const placeOf = (request: ReplayRequestDocument) => ({ at: request.requested_at, id: request._id })
      const show = (request: ReplayRequestDocument) => showReplay(request, progressOf.get(request._id))
      return { status: 200, body: toPage(found, query.limit, placeOf, show) }
    },
  })
}

function getRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/replays/{id}',
    operationId: 'getReplay',
    tag,
    summary: 'Read how far a replay is',
    scope: 'read',
    params: z.object({ id: z.string() }),
    answers: { 200: { description: 'The replay', schema: Replay } },
    refusals: ['not_found'],
    async handle({ params, principal }) {
      const request = await stores.replayRequests.find({ _id: params.id, ...ownProject(principal) })
      if (request === undefined) throw notFound('replay', params.id)
      return { status: 200, body: showReplay(request, await stores.replays.find({ _id: request._id })) }
    },
  })
}
