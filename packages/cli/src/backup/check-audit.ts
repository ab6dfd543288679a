import type { AuditChainDocument, AuditDocument, AuditFault } from '@backstop/contracts'
import { type AuditKeys, checkHeadMac, faultOf, findFaults, statementOf } from '@backstop/kit/audit'
import type { Db } from 'mongodb'
import { type Check, checkOf } from './rules/check.ts'

const ROWS_AT_ONCE = 1_000

/**
 * Checks the whole chain of the audit, and that no row is outside of it.
 * @param keys undefined: MACs are not checked
 */
export async function checkAudit(db: Db, keys: AuditKeys | undefined): Promise<Check> {
  const audit = db.collection<AuditDocument>('audit')
  const head = await db.collection<AuditChainDocument>('audit_chain').findOne({ _id: 'head' })
  const context = { keys, signedFrom: head?.signed_from, now: new Date() }
  const faults: AuditFault[] = []
  let checked = 0
  let below: AuditDocument | undefined
  let batch: AuditDocument[] = []
  const checkBatch = () => {
    // The row below was checked with the batch before; here only its step to this batch counts.
    const rows = below === undefined ? batch : [below, ...batch]
    const found = findFaults({ rows, above: undefined, isOldest: below === undefined }, context)
    faults.push(...found.filter(({ audit_id, reason }) => audit_id !== below?._id || reason === 'link_broken'))
    checked += batch.length
    below = batch.at(-1) ?? below
    batch = []
  }
  // With its type, as the index has it (typed-value.ts); the driver's types do not know this name.
  const chained = { sequence: { $gte: 1, $type: 'number' as never } }
  for await (const row of audit.find(chained).sort({ sequence: 1 })) {
    if (batch.push(row) === ROWS_AT_ONCE) checkBatch()
  }
  checkBatch()
  if (head === null) {
    if (below !== undefined) faults.push(faultOf('head_missing', null))
  } else {
    const isForged = keys !== undefined && checkHeadMac(head, keys) === 'wrong'
    if (isForged) faults.push(faultOf('head_changed', head.sequence))
    const step = { rows: below === undefined ? [] : [below], above: statementOf(head), isOldest: below === undefined }
    const isStep = ({ reason }: AuditFault) => reason === 'link_broken' || reason === 'row_missing'
    faults.push(...findFaults(step, context).filter(isStep))
    if ((below?.sequence ?? 0) > head.sequence) faults.push(faultOf('head_set_back', below?.sequence ?? null))
  }
  for await (const row of audit.find({
    $nor: [{ sequence: { $gte: 1 } }, { unchained: true, sequence: null as never }],
  })) {
    // Rows of releases without a chain join it at the first start of this version.
    if (head?.mac !== undefined) faults.push(faultOf('row_outside', null, row))
  }
  return checkOf(
    'audit',
    checked,
    faults.map(({ text }) => text),
  )
}
