import {
  type AuditDocument,
  AuditEntry,
  type AuditFault,
  AuditQuery,
  AuditVerification,
  AuditVerifyQuery,
} from '@backstop/contracts'
import { faultOf } from '@backstop/kit/audit'
import { listRoute, windowOf } from '../../http/read-routes.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { showDocument } from '../../rules/show-document.ts'
import { exportRoutes } from './export-audit.ts'
import { requireAllProjects } from './require-all-projects.ts'
import { MOST_FAULTS, type WalkParts, walkChain } from './walk-chain.ts'

/** /v1/audit */
export function auditRoutes(parts: AdminParts): Route[] {
  const { stores, flushAuditRows } = parts
  const audit: typeof stores.audit = {
    ...stores.audit,
    // Callers look for what they have just changed.
    async page(asked) {
      await flushAuditRows()
      return stores.audit.page(asked)
    },
  }
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
      collection: audit,
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

/** GET /v1/audit/verify */
export function verifyRoute({ stores, secretBox, auditHead }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/audit/verify',
    operationId: 'verifyAudit',
    tag: 'Audit',
    summary: 'Verify the hash chain of the audit, from the newest row to the oldest',
    description: 'Verifies 20000 rows at most; continue with `next_sequence`. Requires a key or role in all projects.',
    scope: 'admin',
    query: AuditVerifyQuery,
    answers: { 200: { description: 'Whether the chain is intact', schema: AuditVerification } },
    async handle({ query: { from_sequence, head }, principal, now, signal }) {
      requireAllProjects(principal)
      const parts = { stores, keys: secretBox, seen: auditHead(), now, signal }
      return { status: 200, body: await verifyAudit(parts, { from: from_sequence, head }) }
    },
  })
}

/** Verifies one page. @param head a head that was kept elsewhere, `<sequence>:<hash>` */
export async function verifyAudit(
  parts: WalkParts,
  { from, head }: { readonly from?: number | undefined; readonly head?: string | undefined } = {},
): Promise<AuditVerification> {
  const verification = await walkChain(parts, from)
  const differing = head === undefined ? [] : await compareHead(parts, head)
  const faults = [...differing, ...verification.faults].slice(0, MOST_FAULTS)
  const [broken = null] = faults
  return { ...verification, state: broken === null ? 'intact' : 'broken', broken, faults }
}

/** Compares a head that somebody kept with the row of its place. A row that has expired cannot be compared. */
async function compareHead({ stores }: Pick<WalkParts, 'stores'>, kept: string): Promise<AuditFault[]> {
  const [place = '', hash] = kept.split(':')
  const sequence = Number(place)
  const head = await stores.auditChain.find({ _id: 'head' })
  if (sequence > (head?.sequence ?? 0)) return [faultOf('head_set_back', sequence)]
  const row = await stores.audit.find({ sequence })
  return row !== undefined && row.hash !== hash ? [faultOf('head_differs', sequence, row)] : []
}
