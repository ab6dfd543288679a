import { type AuditFault, AuditVerification, AuditVerifyQuery } from '@backstop/contracts'
import { faultOf } from '@backstop/kit/audit'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { requireAllProjects } from './require-all-projects.ts'
import { MOST_FAULTS, type WalkParts, walkChain } from './walk-chain.ts'

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
