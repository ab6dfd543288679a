import { AuditVerification, AuditVerifyQuery } from '@backstop/contracts'
import { AppError, findBrokenRow } from '@backstop/kit'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'

const ROWS_PER_READ = 500
const ROWS_PER_CALL = 20_000

/** GET /v1/audit/verify */
export function verifyRoute({ stores }: AdminParts): Route {
  return defineRoute({
    method: 'get',
    path: '/v1/audit/verify',
    operationId: 'verifyAudit',
    tag: 'Audit',
    summary: 'Verify the hash chain of the audit, from the newest row to the oldest',
    description: `Verifies ${ROWS_PER_CALL} rows at most; continue with \`next_sequence\`. Requires a key or role in all projects.`,
    scope: 'admin',
    query: AuditVerifyQuery,
    answers: { 200: { description: 'Whether the chain is intact', schema: AuditVerification } },
    async handle({ query, principal }) {
      if (principal.projectIds !== null) {
        throw new AppError('forbidden', 'The audit is one chain for all projects; this requires admin in all projects')
      }
      return { status: 200, body: await verifyChain(stores, query.from_sequence) }
    },
  })
}

async function verifyChain(
  { audit, auditChain }: Pick<ReadCollections, 'audit' | 'auditChain'>,
  from: number | undefined,
): Promise<AuditVerification> {
  const end = await auditChain.find({ _id: 'head' })
  const head = end === undefined ? null : { sequence: end.sequence, hash: end.hash }
  const start = Math.min(from ?? Number.POSITIVE_INFINITY, end?.sequence ?? 0)
  let expected = start === end?.sequence ? end.hash : undefined
  let next = start
  let verified = 0
  const result = (more: Partial<AuditVerification>): AuditVerification => ({
    state: 'intact',
    head,
    verified,
    first_sequence: verified === 0 ? null : next + 1,
    broken: null,
    next_sequence: null,
    ...more,
  })
  while (next > 0 && verified < ROWS_PER_CALL) {
    const wanted = Array.from({ length: Math.min(ROWS_PER_READ, next) }, (_, i) => next - i)
    const found = (await audit.findAll({ sequence: { in: wanted } })).toSorted(
      (a, b) => (b.sequence ?? 0) - (a.sequence ?? 0),
    )
    // The oldest rows expire, so a chain may begin later. A row that is missing before older rows was removed.
    if (found.length === 0) return verified === 0 ? broken(next, 'row_missing') : result({})
    if (found[0]?.sequence !== next) return broken(next, 'row_missing')
    const fault = findBrokenRow(found, expected)
    if (fault !== undefined) return broken(fault.sequence, fault.reason)
    verified += found.length
    next -= found.length
    expected = found.at(-1)?.previous_hash
    if (found.length < wanted.length) return result({})
  }
  return result({ next_sequence: next > 0 ? next : null })

  function broken(sequence: number, reason: NonNullable<AuditVerification['broken']>['reason']): AuditVerification {
    return result({ state: 'broken', broken: { sequence, reason } })
  }
}
