import { type InboxDocument, InboxEntry, InboxEntryWithBody, InboxQuery, listOf } from '@backstop/contracts'
import { z } from 'zod'
import { ownProject } from '../../access/rules/access.ts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { notFound, projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const tag = 'Inbox'

/** /v1/inbox */
export function inboxRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/inbox',
      operationId: 'listInbox',
      tag,
      summary: 'List notifications and what became of each, newest first',
      scope: 'read',
      query: InboxQuery,
      answers: { 200: { description: 'A page of notifications', schema: listOf(InboxEntry) } },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        const where = {
          ...projectFilter(principal, query.project_id),
          ...(query.connection_id === undefined ? {} : { connection_id: query.connection_id }),
          ...(query.outcome === undefined ? {} : { outcome: query.outcome }),
        }
        const after = decodeCursor(query.cursor)
        const found = await stores.inbox.page({ where, by: 'received_at', after, limit: query.limit + 1 })
        const placeOf = ({ received_at, _id }: InboxDocument) => ({ at: received_at, id: _id })
        return { status: 200, body: toPage(found, query.limit, placeOf, show) }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/inbox/{connection_id}/{event_id}',
      operationId: 'getInboxEntry',
      tag,
      summary: 'Read a notification with its body',
      scope: 'read',
      params: z.object({ connection_id: z.string(), event_id: z.string() }),
      answers: { 200: { description: 'The notification', schema: InboxEntryWithBody } },
      refusals: ['not_found'],
      async handle({ params, principal }) {
        const _id = `${params.connection_id}/${params.event_id}`
        const entry = await stores.inbox.find({ _id, ...ownProject(principal) })
        if (entry === undefined) throw notFound('notification', _id)
        const raw = await stores.inboxBodies.find({ _id })
        return { status: 200, body: { ...show(entry), body: raw === undefined ? null : JSON.parse(raw.body) } }
      },
    }),
  ]
}

function show({ _id, received_at, processed_at, ...rest }: InboxDocument): InboxEntry {
  return {
    inbox_id: _id,
    ...rest,
    received_at: received_at.toISOString(),
    processed_at: processed_at.toISOString(),
  }
}
