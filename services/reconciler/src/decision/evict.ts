import type { Operation } from '@backstop/contracts'
import { type ActionRecord, isJudged, isProvisional, type ObjectRecord, openIncident } from '../case/action-record.ts'
import type { Case, EvictedRecord, MergedRecord } from '../case/case.ts'
import { refundIdsOf } from '../case/sides.ts'
import { totalsOf } from '../refund/refund-steps.ts'

/**
 * What a case gives up when it holds too much, so that its document stays far below the 16 MB that MongoDB allows. Only
 * what is settled goes, each record with the operation and the step that belong to it, and a little stays of it: an event
 * that comes after all makes it anew under its old name, and its second look finds the operation in the ledger.
 */

/** Records that a case keeps. Beyond that it gives up old ones. */
export const MAX_RECORDS = 1_000
/** Providers tell of what happened within days; what was first seen that long ago is told of no more, but for rare late turns. */
const OLD_AFTER_MS = 7 * 86_400_000
/** Records and totals with which a case takes no new one: 6 to 9 MB as it is stored. Counted, as measuring costs too much. */
export const MAX_HELD = 3_000
/** Records given up with which it takes no new one, as a little of each stays. */
export const MAX_EVICTED = 10_000

/**
 * The case with as many of its oldest settled records given up as it has too many.
 * @param before the case as it was read: what changed since then is kept, as that is yet to be listed
 */
export function evictOld(theCase: Case, before: Case | undefined, now: number): Case {
  const surplus = theCase.actions.length + theCase.merged.length - MAX_RECORDS
  if (surplus <= 0) return theCase
  const operations = new Map(theCase.operations.map(operation => [operation.operation_id, operation]))
  const listed = new Set<ActionRecord | MergedRecord>(before?.actions)
  for (const one of before?.merged ?? []) listed.add(one)
  const made = Map.groupBy(theCase.actions, ({ operationId }) => operationId)
  // An operation goes with its action, so one that explains several actions keeps them.
  const isShared = ({ operationId }: ActionRecord) => operationId !== null && (made.get(operationId)?.length ?? 0) > 1
  const settled = [
    ...theCase.merged.filter(one => listed.has(one) && one.record.turn === null).map(({ record }) => record),
    ...theCase.actions.filter(
      action => listed.has(action) && !isShared(action) && isFinal(action, operations.get(action.operationId ?? '')),
    ),
  ]
  const evicted = new Set(
    settled
      .filter(({ firstSeenAt }) => now - firstSeenAt >= OLD_AFTER_MS)
      .sort((a, b) => a.firstSeenAt - b.firstSeenAt)
      .slice(0, surplus),
  )
  return evicted.size === 0 ? theCase : withoutRecords(theCase, evicted)
}

/** Whether nothing is to come of it, and the same would be said of it if it came again. */
function isFinal(action: ActionRecord, operation: Operation | undefined): boolean {
  // What is read off a row comes back with its next snapshot; what is provisional may yet turn out to be a refund.
  if (action.turn !== null || isProvisional(action) || openIncident(action) !== undefined) return false
  if (!isJudged(action)) return true
  if (action.verdict !== 'explained') return false
  return action.reason === 'made_before_connection' || (operation !== undefined && operation.ended_at !== null)
}

function withoutRecords(theCase: Case, evicted: ReadonlySet<ActionRecord>): Case {
  const actions = theCase.actions.filter(action => !evicted.has(action))
  const lost = theCase.actions.filter(isOfObjects).filter(action => evicted.has(action))
  const identities = new Set([...lost, ...theCase.evicted].map(({ identity }) => identity))
  const operationIds = new Set(lost.map(({ operationId }) => operationId))
  const totals = totalsOf(theCase, identities)
  return {
    ...theCase,
    actions,
    merged: theCase.merged.filter(({ record }) => !evicted.has(record)),
    refundTotals: theCase.refundTotals.filter(({ id }) => !totals.has(id)),
    operations: theCase.operations.filter(({ operation_id }) => !operationIds.has(operation_id)),
    followedOperations: theCase.followedOperations.filter(({ operationId }) => !operationIds.has(operationId)),
    evicted: [...theCase.evicted, ...lost.map(evictionOf)],
  }
}

function isOfObjects(action: ActionRecord): action is ObjectRecord {
  return action.turn === null && !isProvisional(action)
}

function evictionOf(action: ObjectRecord): EvictedRecord {
  const { id, identity, kind, sides, objectIds, amount, currency, state, providerCreatedAt } = action
  const { idempotencyKeys, operationId } = action
  const shown = { kind, sides, objectIds, amount, currency, state, providerCreatedAt }
  return { actionId: id, identity, refs: [...new Set(refundIdsOf(action))], ...shown, idempotencyKeys, operationId }
}

/** What stayed of a record that was given up, by any id that a provider calls it by. */
export function evictedRecordOf(theCase: Case, refs: readonly string[]): EvictedRecord | undefined {
  return theCase.evicted.find(one => one.refs.some(ref => refs.includes(ref)))
}

/** Whether the operation explains a record that was given up, so that it can explain no other. */
export function explainsEvicted(theCase: Case, operationId: string): boolean {
  return theCase.evicted.some(one => one.operationId === operationId)
}

/** Why a case cannot take one more record; null where it can. */
export function whyFull({ actions, merged, refundTotals, evicted }: Case): 'too_many_records' | null {
  const held = actions.length + merged.length + refundTotals.length
  return held >= MAX_HELD || evicted.length >= MAX_EVICTED ? 'too_many_records' : null
}

/** How many records and totals a case knows of. One that was given up counts, so that it is no new one when it comes back. */
export function countRecords({ actions, merged, refundTotals, evicted }: Case): number {
  return actions.length + merged.length + refundTotals.length + evicted.length
}
