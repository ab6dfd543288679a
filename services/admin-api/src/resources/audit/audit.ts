import { type AuditDocument, AuditEntry, AuditQuery, listOf } from '@backstop/contracts'
import { decodeCursor, toPage } from '../../http/cursor.ts'
import { projectFilter } from '../../http/found.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

/** /v1/audit */
export function auditRoutes({ stores }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'List who changed what, and who was refused, newest first',
      description:
        'Refused requests are one row for each minute, actor and error code, with `count`. The actor is the key, or for a key that is not known the address and the beginning of the key.',
      scope: 'admin',
      query: AuditQuery,
      answers: { 200: { description: 'A page of changes', schema: listOf(AuditEntry) } },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        const where = { ...projectFilter(principal, query.project_id), target: query.target }
        const after = decodeCursor(query.cursor)
        const found = await stores.audit.page({ where, by: 'at', after, limit: query.limit + 1 })
        const placeOf = ({ at, _id }: AuditDocument) => ({ at, id: _id })
        return { status: 200, body: toPage(found, query.limit, placeOf, show) }
      },
    }),
  ]
}

function show({ _id, at, last_at, ...rest }: AuditDocument): AuditEntry {
  return { audit_id: _id, ...rest, at: at.toISOString(), ...(last_at && { last_at: last_at.toISOString() }) }
}
