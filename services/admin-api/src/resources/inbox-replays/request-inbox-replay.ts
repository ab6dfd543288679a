import type { Command, InboxReplayRequestDocument } from '@backstop/contracts'
import { storeNew } from '../../http/change-document.ts'
import type { RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

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
