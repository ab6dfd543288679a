import { createHash } from 'node:crypto'
import { type AuditDocument, type AuditExportEnd, type AuditFault, AuditPublicKeys } from '@backstop/contracts'
import { canonicalJson, findFaults, statementOf } from '@backstop/kit/audit'
import type { SecretBox } from '@backstop/kit/secret-box'
import { defineRoute, type Route, type RouteRequest } from '../../http/route.ts'
import { LIST_FORMATS, streamList } from '../../http/whole-list/stream-list.ts'
import type { AdminParts } from '../../parts.ts'
import type { ReadCollections } from '../../store/stores.ts'
import { readHead } from './read-head.ts'
import { requireAllProjects } from './require-all-projects.ts'
import { findHeadFaults, hashedUntil, MOST_FAULTS, readBelow, type WalkParts } from './walk-chain.ts'

/** The purpose of the key pair that signs exports. */
export const EXPORT_PURPOSE = 'audit-export'
const ROWS_PER_READ = 500

/** GET /v1/audit/export and /v1/audit/public-keys */
export function exportRoutes({ stores, secretBox, auditHead }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/audit/export',
      operationId: 'exportAudit',
      tag: 'Audit',
      summary: 'Export the chain of the audit as NDJSON with a signature, oldest row first',
      description:
        'The last line has a `statement` about the lines before and its Ed25519 signature, so that the export can be verified without this service. Rows of the last seconds, which are not part of the chain yet, are left out. Requires a key or role in all projects.',
      scope: 'admin',
      answers: { 200: { description: 'The rows and the signature', mediaType: LIST_FORMATS.ndjson } },
      async handle({ principal, now, signal, authorize }) {
        requireAllProjects(principal)
        const parts = { stores, keys: secretBox, seen: auditHead(), now }
        return {
          status: 200,
          headers: {
            'content-type': LIST_FORMATS.ndjson,
            'content-disposition': 'attachment; filename="audit.ndjson"',
          },
          stream: out =>
            streamList(out, { format: 'ndjson', columns: [], pages: exportPages(parts, secretBox, authorize), signal }),
        }
      },
    }),
    defineRoute({
      method: 'get',
      path: '/v1/audit/public-keys',
      operationId: 'getAuditPublicKeys',
      tag: 'Audit',
      summary: 'List the public keys with which exports of the audit are verified',
      description:
        'One for each key of SECRET_KEYS; the first one signs new exports. Keep them: an export stays verifiable after its key was removed. Requires a key or role in all projects.',
      scope: 'admin',
      answers: { 200: { description: 'The public keys', schema: AuditPublicKeys } },
      async handle({ principal }) {
        requireAllProjects(principal)
        const keys = secretBox.publicKeys(EXPORT_PURPOSE).map(({ keyId, pem }) => ({ key_id: keyId, public_key: pem }))
        return { status: 200, body: { keys } }
      },
    }),
  ]
}

type Line = Readonly<Record<string, unknown>>

async function* exportPages(
  parts: WalkParts,
  box: Pick<SecretBox, 'signPublicly'>,
  authorize: RouteRequest<never, never, never>['authorize'],
): AsyncGenerator<Line[]> {
  const { stores, keys, now } = parts
  const read = await readHead(stores, parts)
  const { head } = read
  const last = head?.sequence ?? 0
  const sha256 = createHash('sha256')
  const context = { keys, signedFrom: head?.signed_from, now }
  const faults: AuditFault[] = findHeadFaults(read, parts.seen)
  let [rows, firstSequence] = [0, null as number | null]
  let below: AuditDocument | undefined
  const first = await findFirstPlace(stores)
  for (let next = first + ROWS_PER_READ - 1; next - ROWS_PER_READ < last; next += ROWS_PER_READ) {
    requireAllProjects(await authorize())
    const page = (await readBelow(stores, next)).filter(({ sequence = 0 }) => sequence <= last)
    const part = {
      rows: below === undefined ? page : [below, ...page],
      above: undefined,
      isOldest: below === undefined,
    }
    // The row below was checked with the page before; here only its step to this page counts.
    const found = findFaults(part, context).filter(
      ({ audit_id, reason }) => audit_id !== below?._id || reason === 'link_broken',
    )
    faults.unshift(...found)
    const lines = page.map(showRow)
    for (const line of lines) sha256.update(`${JSON.stringify(line)}\n`)
    rows += lines.length
    firstSequence ??= page[0]?.sequence ?? null
    below = page.at(-1) ?? below
    yield lines
  }
  if (head !== undefined) {
    const part = { rows: below === undefined ? [] : [below], above: statementOf(head), isOldest: below === undefined }
    faults.unshift(
      ...findFaults(part, context).filter(({ reason }) => reason === 'link_broken' || reason === 'row_missing'),
    )
  }
  const statement: AuditExportEnd['statement'] = {
    exported_at: now.toISOString(),
    rows,
    first_sequence: firstSequence,
    last_sequence: last,
    last_hash: head?.hash ?? '',
    hashed_until: hashedUntil(head?.signed_from, last),
    sha256: sha256.digest('hex'),
    faults: faults.slice(0, MOST_FAULTS),
  }
  const { keyId, signature } = box.signPublicly(EXPORT_PURPOSE, canonicalJson(statement))
  yield [{ statement, key_id: keyId, signature }]
}

/** The row as it was hashed, so that its hash can be computed from the export. */
function showRow({ _id, unchained: _, ...row }: AuditDocument): Line {
  return { audit_id: _id, ...row }
}

/** The oldest row is among the oldest ones by time, although rows may join in another order. */
async function findFirstPlace({ audit }: Pick<ReadCollections, 'audit'>): Promise<number> {
  const oldest = await audit.page({
    where: { sequence: { min: 1 } },
    by: 'at',
    oldestFirst: true,
    limit: ROWS_PER_READ,
  })
  let first = Math.min(...oldest.map(({ sequence }) => sequence ?? Number.POSITIVE_INFINITY))
  for (;;) {
    const lower = await audit.find({ sequence: { min: 1, max: first - 1 } })
    if (lower?.sequence === undefined) return Number.isFinite(first) ? Math.max(1, Math.floor(first)) : 1
    first = lower.sequence
  }
}
