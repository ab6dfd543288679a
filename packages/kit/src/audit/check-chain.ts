import type { AuditChainDocument, AuditDocument, AuditFault } from '@backstop/contracts'
import { type ChainContext, findRowFault, mayPreviousBeExpired } from './check-row.ts'
import { faultOf } from './fault-text.ts'
import type { ChainEnd } from './hash-chain.ts'

/** The fields by which a row, or the head, states the row below it. */
export type Statement = Pick<AuditDocument, 'sequence' | 'previous_hash' | 'previous_at' | 'at'>

/** A head of before the update does not state the time of its row, so that row does not count as expired. */
const UNKNOWN_TIME = new Date(8.64e15)

/** What the head states about the newest row. */
export function statementOf(head: Pick<AuditChainDocument, 'sequence' | 'hash' | 'at'> | ChainEnd): Statement {
  const { sequence, hash, at } = head
  return { sequence: sequence + 1, previous_hash: hash, previous_at: at ?? null, at: at ?? UNKNOWN_TIME }
}

/** Rows of the chain that follow each other, oldest first. */
export interface ChainPart {
  readonly rows: readonly AuditDocument[]
  /** The row above the newest of `rows`, or the head; undefined if it is unknown. */
  readonly above: Statement | undefined
  /** True if no row below these is in the database. */
  readonly isOldest: boolean
}

/** Finds all faults of rows that follow each other in the chain. @returns newest row first */
export function findFaults({ rows, above, isOldest }: ChainPart, context: ChainContext): AuditFault[] {
  const faults: AuditFault[] = []
  let previous: AuditDocument | undefined
  const checkStep = (next: Statement) => {
    const fault = findStepFault(previous, next, isOldest, context.now)
    if (fault !== undefined) faults.push(fault)
  }
  for (const row of rows) {
    checkStep(row)
    const reason = findRowFault(row, context)
    if (reason !== undefined) faults.push(faultOf(reason, row.sequence ?? null, row))
    previous = row
  }
  if (above !== undefined) checkStep(above)
  return faults.reverse()
}

/** Checks the step from a row to the one above it. @param previous undefined if there is none among the rows */
function findStepFault(
  previous: AuditDocument | undefined,
  next: Statement,
  isOldest: boolean,
  now: Date,
): AuditFault | undefined {
  const expected = (next.sequence ?? 0) - 1
  if (previous === undefined && !isOldest) return undefined
  const missing = expected - (previous?.sequence ?? 0)
  if (missing > 0) {
    return mayPreviousBeExpired(next, now) ? undefined : faultOf('row_missing', expected, undefined, missing)
  }
  if (previous === undefined || previous.hash === next.previous_hash) return undefined
  return faultOf('link_broken', expected, previous)
}
