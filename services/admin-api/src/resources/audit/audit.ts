import { type AuditDocument, AuditEntry, AuditQuery } from '@backstop/contracts'
import { listRoute, windowOf } from '../../http/read-routes.ts'
import type { Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import { exportRoutes } from './export-audit.ts'
import { verifyRoute } from './verify-audit.ts'

/** /v1/audit */
export function auditRoutes(parts: AdminParts): Route[] {
  const { stores } = parts
  return [
    verifyRoute(parts),
    ...exportRoutes(parts),
    listRoute({
      path: '/v1/audit',
      operationId: 'listAudit',
      tag: 'Audit',
      summary: 'List who changed what, and who was refused, newest first',
      description:
        'Each refusal of an authenticated key or person has a row. Refusals of other callers, and those beyond 60 in a minute, share one row for each minute, actor and error code, with a `count`. For an unknown key the actor is the address and the beginning of the key.',
      scope: 'admin',
      items: 'changes',
      isStreamable: true,
      query: AuditQuery,
      schema: AuditEntry,
      collection: stores.audit,
      sortedBy: 'at',
      filter: ({ target, key_id, action }) => ({ target, key_id, action }),
      window: datedWindowOf,
      show: showAuditEntry,
    }),
  ]
}

/** All dates that JavaScript can show. A row with another value has no place in a list by time; GET /v1/audit/verify reports it. */
const DATES = { from: new Date(-8.64e15), before: new Date(8.64e15) }

function datedWindowOf(query: Parameters<typeof windowOf>[0]): typeof DATES {
  const { from = DATES.from, before = DATES.before } = windowOf(query)
  return { from, before }
}

/** A row that somebody wrote into the database may have any form. It must not keep the others from being read. */
function showAuditEntry(row: AuditDocument): AuditEntry {
  try {
    const entry = showDocument(AuditEntry, row, { audit_id: row._id })
    if (AuditEntry.safeParse(entry).success) return entry
  } catch {
    // A field that should be a date is none.
  }
  return {
    audit_id: String(row._id),
    at: row.at.toISOString(),
    key_id: null,
    action: 'audit.unreadable',
    target: '',
    project_id: null,
    request_id: null,
    address: null,
    unreadable: true,
  }
}
