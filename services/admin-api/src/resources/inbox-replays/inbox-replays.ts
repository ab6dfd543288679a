import {
  type Command,
  ConnectionListQuery,
  ID_PREFIXES,
  InboxReplay,
  type InboxReplayDocument,
  type InboxReplayRequestDocument,
  NewInboxReplay,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { storeNew } from '../../http/change-document.ts'
import { findConnection, findInProject } from '../../http/find-resource.ts'
import { getRoute, listRoute } from '../../http/read-routes.ts'
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'

const tag = 'Inbox'
const REQUESTED = 'The replay is requested: read it again for its progress'
const EFFECT =
  'Each stored notification is decided again, as if it arrived now. What was already decided stays: no action is recorded twice and no alert is sent twice.'

/** /v1/inbox-replays */
export function inboxReplayRoutes(parts: AdminParts): Route[] {
  const resource = {
    path: '/v1/inbox-replays',
    tag,
    item: 'replay',
    schema: InboxReplay,
    collection: parts.stores.inboxReplayRequests,
    beside: parts.stores.inboxReplays,
    show: (request: InboxReplayRequestDocument, _: unknown, progress: InboxReplayDocument | undefined) =>
      showInboxReplay(request, progress),
  } as const
  return [
    replayEventRoute(parts),
    replayWindowRoute(parts),
    listRoute({
      ...resource,
      operationId: 'listInboxReplays',
      summary: 'List replays of notifications, newest first',
      items: 'replays',
      query: ConnectionListQuery,
      sortedBy: 'requested_at',
      filter: ({ connection_id }) => ({ connection_id }),
    }),
    getRoute({ ...resource, operationId: 'getInboxReplay', summary: 'Get the progress of a replay of notifications' }),
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
    answers: { 202: { description: REQUESTED, schema: InboxReplay } },
    refusals: ['conflict'],
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

type Selection = Omit<InboxReplayRequestDocument, '_id' | 'requested_at'>

type Request = Pick<RouteRequest<never, never, never>, 'newId' | 'now' | 'change'>

/** The stored request for a replay of notifications, and its command to the reconciler. */
export function describeInboxReplay(
  selection: Selection,
  { newId, now }: Pick<Request, 'newId' | 'now'>,
): { readonly document: InboxReplayRequestDocument; readonly command: Command } {
  const document: InboxReplayRequestDocument = { _id: newId('replay'), ...selection, requested_at: now }
  const { project_id, connection_id, event_ids, from, to, outcome } = selection
  const command: Command = {
    kind: 'replay_inbox',
    command_id: newId('command'),
    project_id,
    requested_at: now.toISOString(),
    replay_id: document._id,
    connection_id,
    event_ids,
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    outcome,
  }
  return { document, command }
}

/**
 * Requests a replay of notifications. The command is sent before the request is stored: a stored request whose command
 * was never sent would stay pending for ever.
 */
export async function requestInboxReplay(
  selection: Selection,
  request: Request,
  { commands }: Pick<AdminParts, 'commands'>,
): Promise<InboxReplayRequestDocument> {
  const { document, command } = describeInboxReplay(selection, request)
  await commands.send([command])
  await storeNew(request, ({ inboxReplayRequests }) => inboxReplayRequests, document, 'inbox_replay.create')
  return document
}

/**
 * A replay of notifications with its progress.
 * @param progress undefined if the reconciler has not begun
 */
export function showInboxReplay(
  request: InboxReplayRequestDocument,
  progress: InboxReplayDocument | undefined,
): InboxReplay {
  return showDocument(InboxReplay, request, {
    replay_id: request._id,
    state: progress?.state ?? 'requested',
    total: progress?.total ?? null,
    replayed: progress?.replayed ?? 0,
    skipped: { body_erased: progress?.skipped_erased ?? 0, not_a_notification: progress?.skipped_objects ?? 0 },
    finished_at: progress?.finished_at?.toISOString() ?? null,
  })
}
