import { deterministicOrderedId, type Operation } from '@backstop/contracts'
import type { ObservedAction, ObservedRecord } from '@backstop/providers'
import {
  type ActionRecord,
  isProvisional,
  type ObjectRecord,
  type ProvisionalRefund,
  UNJUDGED,
} from '../case/action-record.ts'
import { type Case, type EvictedRecord, replaceAt, type SightingSource, withAll, withConnection } from '../case/case.ts'
import { withoutDenial } from '../case/denial.ts'
import { mergeSides, replaceProvisionalRefund, toSide, withSides } from '../case/sides.ts'
import { addSightingToTimeline } from '../case/timeline.ts'
import { indexOfLinkedRecord, mergeLinkedRefunds } from '../judge/same-action.ts'
import { indexOfProvisional } from '../refund/refund-steps.ts'
import { evictedRecordOf, explainsEvictedRecord } from './evict.ts'

const MAX_EVENT_IDS = 100
/**
 * Operations that explain nothing: the latest are kept, because failing software may report any number of them. An
 * operation that explains an action is never removed, because the action would alert.
 */
const MAX_UNUSED_OPERATIONS = 500

/** Applies a sighting of a provider's object: updates its record, or creates it. */
export function applyObject(
  theCase: Case,
  sighting: ObservedAction | ObservedRecord,
  source: SightingSource,
  now: number,
): Case {
  const index = findRecord(theCase, sighting)
  const found = theCase.actions[index]
  const known = found?.turn === null ? found : undefined
  const evicted = known === undefined ? evictedRecordOf(theCase, namesOf(sighting)) : undefined
  const before = known ?? newRecord(sighting, evicted, now)
  const record = withSighting(before, withSide(before, sighting), sighting, source, now)
  const actions = known === undefined ? [...theCase.actions, record] : replaceAt(theCase.actions, index, record)
  const refs = withAll(theCase.refs, sighting.refs)
  const next =
    evicted === undefined ? theCase : { ...theCase, evicted: theCase.evicted.filter(known => known !== evicted) }
  return mergeLinkedRefunds({ ...next, actions, refs }, now)
}

function namesOf(sighting: ObservedAction | ObservedRecord): readonly string[] {
  return sighting.kind === 'action' ? [sighting.providerRef, ...sighting.gatewayRefs] : [sighting.providerRef]
}

/**
 * The index of the record of this object, of the same refund at another provider, or of the provisional refund that it
 * replaces; -1 if there is none.
 */
function findRecord(theCase: Case, sighting: ObservedAction | ObservedRecord): number {
  const { identity } = sighting
  const own = theCase.actions.findIndex(
    action => action.identity === identity || action.sides.some(side => side.identity === identity),
  )
  if (own >= 0 || sighting.kind === 'record') return own
  const linked = indexOfLinkedRecord(theCase, toSide(sighting))
  return linked >= 0 ? linked : indexOfProvisional(theCase, sighting)
}

/** @param evicted the kept data if the record was evicted. Its operation is left out, because the ledger reports it. */
function newRecord(
  sighting: ObservedAction | ObservedRecord,
  evicted: EvictedRecord | undefined,
  now: number,
): ObjectRecord {
  const { identity, provider, subject, objectIds, providerRef, amount, currency, state, createdAt } = sighting
  return {
    id: evicted?.actionId ?? deterministicOrderedId('action', createdAt, identity),
    identity: evicted?.identity ?? identity,
    kind: evicted?.kind ?? (sighting.kind === 'action' ? sighting.action : sighting.record),
    sides: evicted?.sides ?? [],
    turn: null,
    provider,
    seenThrough: [],
    subject,
    objectIds,
    providerRef,
    amount,
    currency,
    state,
    providerCreatedAt: createdAt,
    idempotencyKeys: evicted?.idempotencyKeys ?? [],
    requestIds: evicted?.requestIds,
    eventIds: [],
    firstSeenAt: now,
    ...UNJUDGED,
  }
}

function withSide(known: ObjectRecord | ProvisionalRefund, sighting: ObservedAction | ObservedRecord): ObjectRecord {
  const seen = toSide(sighting)
  if (isProvisional(known)) return replaceProvisionalRefund(known, seen)
  const own = known.sides.find(side => side.identity === seen.identity)
  const others = known.sides.filter(side => side !== own)
  return withSides(known, [...others, own === undefined ? seen : mergeSides(own, seen)])
}

function withSighting(
  before: ActionRecord,
  record: ActionRecord,
  sighting: ObservedAction | ObservedRecord,
  source: SightingSource,
  now: number,
): ActionRecord {
  const { connection, eventId } = source
  const key = sighting.kind === 'action' ? sighting.idempotencyKey : null
  const hasRoom = record.eventIds.length < MAX_EVENT_IDS
  const seen: ActionRecord = {
    ...record,
    seenThrough: withConnection(record.seenThrough, connection),
    idempotencyKeys: key === null ? record.idempotencyKeys : withAll(record.idempotencyKeys, [key]),
    eventIds: eventId === null || !hasRoom ? record.eventIds : withAll(record.eventIds, [eventId]),
  }
  return addSightingToTimeline(before, withoutDenial(before, seen, source), source, now)
}

/**
 * Adds or updates an operation. An older version changes nothing, and neither does an operation that explains an
 * evicted record. An operation that was never sent to the provider explains nothing: it is kept only to show why, and
 * its references are not added.
 */
export function applyOperation(theCase: Case, operation: Operation): Case {
  const refs = operation.executing_at === null ? theCase.refs : withAll(theCase.refs, operation.refs)
  const index = theCase.operations.findIndex(known => known.operation_id === operation.operation_id)
  const known = theCase.operations[index]
  if (known !== undefined && known.version >= operation.version) return theCase
  if (explainsEvictedRecord(theCase, operation.operation_id)) return theCase
  if (known !== undefined) return { ...theCase, refs, operations: replaceAt(theCase.operations, index, operation) }
  return withoutOldestUnusedOperation({ ...theCase, refs, operations: [...theCase.operations, operation] })
}

/** Removes the oldest operation that explains nothing if there are too many. */
function withoutOldestUnusedOperation(theCase: Case): Case {
  const { operations } = theCase
  if (operations.length <= MAX_UNUSED_OPERATIONS) return theCase
  const explaining = new Set(theCase.actions.map(action => action.operationId))
  const spare = operations.filter(operation => !explaining.has(operation.operation_id))
  const oldest = spare.length > MAX_UNUSED_OPERATIONS ? spare[0] : undefined
  if (oldest === undefined) return theCase
  return {
    ...theCase,
    operations: operations.filter(operation => operation !== oldest),
    followedOperations: theCase.followedOperations.filter(known => known.operationId !== oldest.operation_id),
  }
}
