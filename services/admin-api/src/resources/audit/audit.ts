import { type AuditDocument, AuditEntry, AuditQuery } from '@backstop/contracts'
import { listRoute } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

/** /v1/audit */
export function auditRoutes({ stores }: AdminParts): Route[] {
  return [
    listRoute({
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'List who changed what, and who was refused, newest first',
      description:
        'Refused requests share one row for each minute, actor and error code, with a `count`. The actor is the key; for an unknown key, it is the address and the beginning of the key.',
      scope: 'admin',
      items: 'changes',
      query: AuditQuery,
      schema: AuditEntry,
      collection: stores.audit,
      sortedBy: 'at',
      filter: ({ target }) => ({ target }),
      show: showAuditEntry,
    }),
  ]
}

function showAuditEntry({ _id, at, last_at, ...rest }: AuditDocument): AuditEntry {
  return { audit_id: _id, ...rest, at: at.toISOString(), ...(last_at && { last_at: last_at.toISOString() }) }
}
