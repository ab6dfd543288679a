import { createHash, createPublicKey, verify } from 'node:crypto'
import type { AuditExport, Case } from '../evidence.ts'
import type { Property } from '../property.ts'

/** What the audit shows. */
export const AUDIT_PROPERTIES: readonly Property[] = [
  { name: 'audit-is-one-chain', promise: 'audit-chain', check: ({ evidence }) => findChainFaults(evidence.audit) },
  { name: 'changes-are-audited', promise: 'audit', check: findUnaudited },
]

type Row = Readonly<Record<string, unknown>> & { readonly sequence: number; readonly hash: string }

function readExport({ ndjson }: AuditExport): { rows: Row[]; rowLines: string[]; end: Record<string, unknown> } {
  const lines = ndjson.trimEnd().split('\n')
  const rowLines = lines.slice(0, -1)
  return { rows: rowLines.map(line => JSON.parse(line)), rowLines, end: JSON.parse(lines.at(-1) ?? '{}') }
}

/** Verifies an export as docs/adr/0011-audit-hash-chain.md and the API describe it, with code of its own. */
function findChainFaults(audit: AuditExport): string[] {
  const { rows, rowLines, end } = readExport(audit)
  const faults: string[] = []
  const { statement, signature } = end as {
    statement?: { rows: number; sha256: string; faults: object[] }
    signature?: string
  }
  const isSigned = audit.publicKeys.some(key =>
    verify(null, Buffer.from(canonical(statement)), createPublicKey(key), Buffer.from(signature ?? '', 'base64url')),
  )
  if (!isSigned) faults.push('The export has no valid signature')
  const sha256 = createHash('sha256')
    .update(rowLines.map(line => `${line}\n`).join(''))
    .digest('hex')
  if (statement?.sha256 !== sha256 || statement.rows !== rows.length)
    faults.push('The export was changed after it was signed')
  for (const fault of statement?.faults ?? []) faults.push(`The service found ${JSON.stringify(fault)}`)
  rows.forEach((row, index) => {
    const before = rows[index - 1]
    if (row.sequence !== (before?.sequence ?? 0) + 1) faults.push(`Row ${row.sequence} follows row ${before?.sequence}`)
    if (row.previous_hash !== (before?.hash ?? '')) faults.push(`Row ${row.sequence} does not continue the row before`)
    if (row.hash !== hashOf(row)) faults.push(`Row ${row.sequence} was changed`)
  })
  return faults
}

function hashOf({ hash: _, audit_id, ...row }: Row): string {
  return createHash('sha256')
    .update(`${row.previous_hash}\n${canonical({ ...row, _id: audit_id })}`)
    .digest('hex')
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

/** Each operation, and each of its states, that the API confirmed has a row. */
function findUnaudited({ truth, evidence }: Case): string[] {
  const audited = new Set(
    readExport(evidence.audit).rows.flatMap(({ action, target, changes }) => {
      const states = (changes as { field: string; to: unknown }[] | undefined)?.filter(({ field }) => field === 'state')
      return [`${action} ${target}`, ...(states ?? []).map(({ to }) => `${to} ${target}`)]
    }),
  )
  const confirmed = truth.reports.flatMap(({ operationId, state, reported }) => [
    `operation.create ${operationId}`,
    ...(state === reported ? [`${state} ${operationId}`] : []),
  ])
  return confirmed.filter(change => !audited.has(change)).map(change => `The audit does not show: ${change}`)
}
