import type { Operation } from '@backstop/contracts'
import {
  type ActionRecord,
  isProvisional,
  needsVerdict,
  type ObjectRecord,
  openIncident,
} from '../case/action-record.ts'
import type { Case, EvictedRecord, MergedRecord } from '../case/case.ts'
import { eraseInRecord } from '../case/erase-personal-data.ts'
import { refundIdsOf } from '../case/sides.ts'
import { totalsOfRefunds } from '../refund/refund-steps.ts'

/**
 * Evicts records of a case that has too many, so that its document stays far below MongoDB's limit of 16 MB. Only
 * records that can no longer change are evicted, each with its operation and its refund totals. The kept data is enough
 * to create the record again, under its id, if an event about it arrives later. Its second look then loads the
 * operation from the ledger.
 *
 * Nothing erases a listed action whose record was evicted. Therefore the personal data of a record is erased and listed
 * first, and a later batch evicts the record.
 */

/** Records that a case keeps. Above this number, old records are evicted. */
export const MAX_RECORDS = 1_000
/** Providers report a change within days, so a record of this age gets no more events, with rare exceptions. */
const OLD_AFTER_MS = 7 * 86_400_000
/**
 * Number of records and totals at which a case refuses new ones. At this number a stored case has 6 to 9 MB. They are
 * counted because measuring the size costs too much.
 */
export const MAX_HELD = 3_000
/** Number of evicted records at which a case refuses new ones, because some data of each is kept. */
export const MAX_EVICTED = 10_000

/**
 * Evicts the oldest final records of a case that has more than `MAX_RECORDS`, or erases their personal data first.
 * @param before the case as it was loaded. Records that changed since are kept, because they must still be listed.
 */
export function evictOld(theCase: Case, before: Case | undefined, now: number): Case {
  const surplus = theCase.actions.length + theCase.merged.length - MAX_RECORDS
  if (surplus <= 0) return theCase
  const operations = new Map(theCase.operations.map(operation => [operation.operation_id, operation]))
  const listed = new Set<ActionRecord | MergedRecord>(before?.actions)
  for (const merged of before?.merged ?? []) listed.add(merged)
  const made = Map.groupBy(theCase.actions, ({ operationId }) => operationId)
  // An operation is evicted with its action, so an operation that explains several actions is kept, and so are these
  // actions.
  const isShared = ({ operationId }: ActionRecord) => operationId !== null && (made.get(operationId)?.length ?? 0) > 1
  const candidates = [
    ...theCase.merged.filter(merged => listed.has(merged) && merged.record.turn === null).map(({ record }) => record),
    ...theCase.actions.filter(
      action => listed.has(action) && !isShared(action) && isFinal(action, operations.get(action.operationId ?? '')),
    ),
  ]
  const chosen = new Set(
    candidates
      .filter(({ firstSeenAt }) => now - firstSeenAt >= OLD_AFTER_MS)
      .sort((a, b) => a.firstSeenAt - b.firstSeenAt)
      .slice(0, surplus),
  )
  if (chosen.size === 0) return theCase
  const erased = eraseInRecords(theCase, chosen)
  const evicted = new Set(recordsOf(erased).filter(record => chosen.has(record)))
  return evicted.size === 0 ? erased : withoutRecords(erased, evicted)
}

/** Erases the personal data of these records, and marks the changed ones as changed by this version of the case. */
function eraseInRecords(theCase: Case, chosen: ReadonlySet<ActionRecord>): Case {
  const eraseIn = (record: ActionRecord) => {
    const erased = chosen.has(record) ? eraseInRecord(record) : record
    return erased === record ? record : { ...erased, changedIn: theCase.version }
  }
  return {
    ...theCase,
    actions: theCase.actions.map(eraseIn),
    merged: theCase.merged.map(merged => {
      const record = eraseIn(merged.record)
      return record === merged.record ? merged : { ...merged, record }
    }),
  }
}

function recordsOf({ actions, merged }: Case): readonly ActionRecord[] {
  return [...actions, ...merged.map(({ record }) => record)]
}

/** True if the record can no longer change, and would get the same verdict if it was created again. */
function isFinal(action: ActionRecord, operation: Operation | undefined): boolean {
  // The next snapshot would create the record of a subscription again, and a refund may still replace a provisional
  // one.
  if (action.turn !== null || isProvisional(action) || openIncident(action) !== undefined) return false
  if (!needsVerdict(action)) return true
  if (action.verdict !== 'explained') return false
  return action.reason === 'made_before_connection' || (operation !== undefined && operation.ended_at !== null)
}

function withoutRecords(theCase: Case, evicted: ReadonlySet<ActionRecord>): Case {
  const actions = theCase.actions.filter(action => !evicted.has(action))
  const lost = theCase.actions.filter(isObjectRecord).filter(action => evicted.has(action))
  const identities = new Set([...lost, ...theCase.evicted].map(({ identity }) => identity))
  const operationIds = new Set(lost.map(({ operationId }) => operationId))
  const totals = totalsOfRefunds(theCase, identities)
  return {
    ...theCase,
    actions,
    merged: theCase.merged.filter(({ record }) => !evicted.has(record)),
    refundTotals: theCase.refundTotals.filter(({ id }) => !totals.has(id)),
    operations: theCase.operations.filter(({ operation_id }) => !operationIds.has(operation_id)),
    followedOperations: theCase.followedOperations.filter(({ operationId }) => !operationIds.has(operationId)),
    evicted: [...theCase.evicted, ...lost.map(toEvictedRecord)],
  }
}

function isObjectRecord(action: ActionRecord): action is ObjectRecord {
  return action.turn === null && !isProvisional(action)
}

function toEvictedRecord(action: ObjectRecord): EvictedRecord {
  const { id, identity, kind, sides, objectIds, amount, currency, state, providerCreatedAt } = action
  const { idempotencyKeys, requestIds, operationId } = action
  // Details help to act on a new change. An evicted record is old, and ten thousand of them must fit.
  const sidesWithoutDetails = sides.map(({ details: _details, ...side }) => side)
  const shown = { kind, sides: sidesWithoutDetails, objectIds, amount, currency, state, providerCreatedAt }
  const names = { idempotencyKeys, requestIds, operationId }
  return { actionId: id, identity, refs: [...new Set(refundIdsOf(action))], ...shown, ...names }
}

/** The kept data of an evicted record, found by any id that a provider uses for it. */
export function evictedRecordOf(theCase: Case, refs: readonly string[]): EvictedRecord | undefined {
  return theCase.evicted.find(evicted => evicted.refs.some(ref => refs.includes(ref)))
}

/** True if the operation explains an evicted record, so that it cannot explain another one. */
export function explainsEvictedRecord(theCase: Case, operationId: string): boolean {
  return theCase.evicted.some(evicted => evicted.operationId === operationId)
}

/** The reason why a case cannot hold one more record; null if it can. */
export function whyFull({ actions, merged, refundTotals, evicted }: Case): 'too_many_records' | null {
  const held = actions.length + merged.length + refundTotals.length
  return held >= MAX_HELD || evicted.length >= MAX_EVICTED ? 'too_many_records' : null
}

/**
 * The number of records and totals that a case knows. Evicted records are included, so that one that is created again
 * does not count as new.
 */
export function countRecords({ actions, merged, refundTotals, evicted }: Case): number {
  return actions.length + merged.length + refundTotals.length + evicted.length
}
