import { NewReplay, Replay, type ReplayDocument, ReplayQuery, type ReplayRequestDocument } from '@backstop/contracts'
import { storeNew } from '../../http/change-document.ts'
import { findChannel } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import { refuseResend } from '../deliveries/channel-facts.ts'
import { judgeResend } from '../deliveries/rules/delivery.ts'

const tag = 'Replays'

/** /v1/replays */
export function replayRoutes(parts: AdminParts): Route[] {
  const resource = {
    path: '/v1/replays',
    tag,
    item: 'replay',
    schema: Replay,
    collection: parts.stores.replayRequests,
    beside: parts.stores.replays,
    show: (request: ReplayRequestDocument, _: unknown, progress: ReplayDocument | undefined) =>
      showReplay(request, progress),
  } as const
  return [
    createRoute(parts),
    listRoute({
      ...resource,
      operationId: 'listReplays',
      summary: 'List replays, newest first',
      items: 'replays',
      query: ReplayQuery,
      sortedBy: 'requested_at',
      filter: ({ channel_id }) => ({ channel_id }),
    }),
    getRoute({ ...resource, operationId: 'getReplay', summary: 'Get the progress of a replay' }),
  ]
}

function createRoute({ stores, commands }: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/replays',
    operationId: 'createReplay',
    tag,
    summary: 'Replay the dead and retrying deliveries of a channel',
    description:
      'Every dead or retrying delivery of the channel that was created in the window (`to` excluded) is attempted, oldest first, at the pace of the channel. Deliveries that have been due for five minutes are attempted too, because their message may be lost. Dead deliveries start their retries again; the others keep theirs. Delivered ones are never sent again.',
    scope: 'manage',
    body: NewReplay,
    answers: { 202: { description: 'The replay is requested: read it again for its progress', schema: Replay } },
    refusals: ['not_found', 'conflict'],
    async handle(asked) {
      const { body, newId, now } = asked
      const channel = await findChannel(stores, asked.principal, body.channel_id)
      const health = await stores.channelHealth.find({ _id: channel._id })
      refuseResend(judgeResend(channel, health), 'Nothing is sent again')
      const request: ReplayRequestDocument = {
        _id: newId('replay'),
        project_id: channel.project_id,
        channel_id: channel._id,
        from: new Date(body.from),
        to: new Date(body.to),
        requested_at: now,
      }
      // The command is sent before the request is stored: a stored request whose command was never sent would stay pending for ever.
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
      await storeNew(asked, ({ replayRequests }) => replayRequests, request, 'replay.create')
      return { status: 202, body: showReplay(request, undefined) }
    },
  })
}

/**
 * A bulk replay with its progress.
 * @param progress undefined if the notifier has not begun
 */
export function showReplay(request: ReplayRequestDocument, progress: ReplayDocument | undefined): Replay {
  return showDocument(Replay, request, {
    replay_id: request._id,
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    requeued: progress?.requeued ?? 0,
    finished_at: progress?.finished_at?.toISOString() ?? null,
  })
}
