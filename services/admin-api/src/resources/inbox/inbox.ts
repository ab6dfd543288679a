import { type InboxDocument, InboxEntry, InboxEntryWithBody, InboxQuery } from '@backstop/contracts'
import { findInProject } from '../../http/find-resource.ts'
import { itemRoute, listRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'

const tag = 'Inbox'

/** /v1/inbox */
export function inboxRoutes({ stores }: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/inbox',
      operationId: 'listInbox',
      tag,
      summary: 'List notifications with their outcome, newest first',
      items: 'notifications',
      query: InboxQuery,
      schema: InboxEntry,
      collection: stores.inbox,
      sortedBy: 'received_at',
      filter: ({ connection_id, outcome, replay_id }) => ({ connection_id, outcome, replay_id }),
      show: showInboxEntry,
    }),
    itemRoute({
      path: '/v1/inbox/{connection_id}/{event_id}',
      operationId: 'getInboxEntry',
      tag,
      summary: 'Get a notification with its body',
      item: 'notification',
      schema: InboxEntryWithBody,
      find: ({ params: { connection_id, event_id }, principal }) =>
        findInProject(stores.inbox, principal, 'notification', `${connection_id}/${event_id}`),
      async show(entry) {
        const raw = await stores.inboxBodies.find({ _id: entry._id })
        return { ...showInboxEntry(entry), body: raw === undefined ? null : JSON.parse(raw.body) }
      },
    }),
  ]
}

function showInboxEntry(document: InboxDocument): InboxEntry {
  return showDocument(InboxEntry, document, { inbox_id: document._id, replay_id: document.replay_id ?? null })
}
