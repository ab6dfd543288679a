import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type AuditDocument, AuditExportEnd, type AuditFault } from '@backstop/contracts'
import { canonicalJson, findFaults } from '@backstop/kit/audit'
import { streamLines } from '@backstop/kit/stream-lines'

/** The result of the verification of an export. */
export interface ExportVerification {
  /** What the service signed; undefined without a valid signature. */
  readonly statement: AuditExportEnd['statement'] | undefined
  readonly faults: readonly AuditFault[]
  readonly unsigned: number
}

const MOST_FAULTS = 20

/**
 * Verifies an export of the audit with public keys alone: that its signature is valid, that its lines are those that were signed, and that
 * its rows are one chain.
 * @param publicKeys one or more Ed25519 public keys as PEM; one of them must have signed
 */
export async function verifyExport(file: Readable, publicKeys: string): Promise<ExportVerification> {
  const keys = readPublicKeys(publicKeys)
  const sha256 = createHash('sha256')
  const faults: AuditFault[] = []
  let [below, rows, unsigned]: [AuditDocument | undefined, number, number] = [undefined, 0, 0]
  let last: string | undefined
  for await (const line of streamLines(file)) {
    if (last !== undefined) {
      sha256.update(`${last}\n`)
      const row = readRow(last)
      if (row === undefined) faults.push(exportFault(`Line ${rows + 1} is no row of the audit`))
      else {
        const part = { rows: below === undefined ? [row] : [below, row], above: undefined, isOldest: false }
        const found = findFaults(part, { keys: undefined, signedFrom: undefined, now: new Date() })
        faults.push(...found.filter(({ audit_id, reason }) => audit_id !== below?._id || reason === 'link_broken'))
        if (row.unsigned === true) unsigned++
        below = row
      }
      rows++
    }
    last = line
    if (faults.length >= MOST_FAULTS) break
  }
  const statement = readStatement(last, keys)
  if (statement === undefined) {
    faults.unshift(exportFault('The export has no valid signature of this public key at its end'))
  } else {
    faults.push(...statement.faults)
    const isSame = statement.rows === rows && statement.sha256 === sha256.digest('hex')
    if (!isSame && faults.length < MOST_FAULTS) faults.unshift(exportFault('The lines are not those that were signed'))
  }
  return { statement, faults: faults.slice(0, MOST_FAULTS), unsigned }
}

function exportFault(text: string): AuditFault {
  return { reason: 'row_changed', sequence: null, audit_id: null, text }
}

/** Reads public keys as PEM, one or more. */
export function readPublicKeys(text: string): KeyObject[] {
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? []
  return blocks.map(pem => createPublicKey(pem))
}

/** The row as it was hashed: times stay texts, because their JSON is the same. */
function readRow(line: string): AuditDocument | undefined {
  try {
    const { audit_id, ...row } = JSON.parse(line)
    const times = { at: new Date(row.at), ...(row.previous_at && { previous_at: new Date(row.previous_at) }) }
    return Number.isInteger(row.sequence) ? { ...row, ...times, _id: audit_id } : undefined
  } catch {
    return undefined
  }
}

function readStatement(line: string | undefined, keys: readonly KeyObject[]): AuditExportEnd['statement'] | undefined {
  return readSigned(line ?? '', keys, AuditExportEnd.shape.statement)
}

/** The statement of a signed JSON document; undefined if none of the keys has signed it. */
export function readSigned<T>(
  text: string,
  keys: readonly KeyObject[],
  schema: { parse(value: unknown): T },
): T | undefined {
  try {
    const { statement, signature } = JSON.parse(text)
    const signed = Buffer.from(canonicalJson(statement), 'utf8')
    const isSigned = keys.some(key => verify(null, signed, key, Buffer.from(signature, 'base64url')))
    return isSigned ? schema.parse(statement) : undefined
  } catch {
    return undefined
  }
}
