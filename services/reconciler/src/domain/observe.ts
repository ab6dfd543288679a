import { deterministicId, type ObjectState, type Operation } from '@backstop/contracts'
import type { ObservedAction, ObservedRefundTotal } from '@backstop/providers'
import { timelineEntry } from './projection.ts'
import { type ActionRecord, type RefundTotal, replaceAt, type SeenThrough, type Subject, withAll } from './subject.ts'

/** An event that was seen, and through which connection. */
export interface Sighting {
  readonly connection: SeenThrough
  readonly eventId: string
  readonly eventType: string
}

/** A story is for people: a subject that something hammers keeps the beginning of it. */
const MAX_TIMELINE_ENTRIES = 100

/** States of one object order by rank, never by arrival. */
const RANK: Record<ObjectState, number> = { pending: 0, requires_action: 1, succeeded: 2, failed: 3, canceled: 3 }

/** The subject with an action that was observed: a new record, or what the event adds to the one there is. */
export function observeAction(subject: Subject, observed: ObservedAction, sighting: Sighting, now: number): Subject {
  const index = findRecord(subject, observed)
  const known = subject.actions[index]
  const record = known === undefined ? newRecord(observed, sighting, now) : mergeSighting(known, observed)
  const seen = withSighting(record, sighting, observed.idempotencyKey, now)
  const actions = known === undefined ? [...subject.actions, seen] : replaceAt(subject.actions, index, seen)
  return { ...subject, actions, refs: withAll(subject.refs, observed.refs) }
}

/** The record of this very action, or else the provisional one that it turns out to be. */
function findRecord(subject: Subject, observed: ObservedAction): number {
  const index = subject.actions.findIndex(action => action.identity === observed.identity)
  if (index >= 0) return index
  return subject.actions.findIndex(
    action =>
      action.providerRef === null &&
      action.kind === observed.action &&
      action.currency === observed.currency &&
      (action.amount ?? 0) >= (observed.amount ?? 0) &&
      action.objectIds.some(id => observed.objectIds.includes(id)),
  )
}

function newRecord(observed: ObservedAction, sighting: Sighting, now: number): ActionRecord {
  return {
    id: deterministicId('action', observed.identity),
    identity: observed.identity,
    kind: observed.action,
    provider: observed.provider,
    seenThrough: [sighting.connection],
    subject: observed.subject,
    objectIds: observed.objectIds,
    providerRef: observed.providerRef,
    amount: observed.amount,
    currency: observed.currency,
    state: observed.state,
    providerCreatedAt: observed.createdAt,
    idempotencyKeys: [],
    eventIds: [],
    firstSeenAt: now,
    ...UNJUDGED,
  }
}

/** A record before it was judged for the first time. */
const UNJUDGED = {
  look: null,
  verdict: 'pending',
  reason: 'awaiting_second_look',
  operationId: null,
  incident: null,
  timeline: [],
} as const satisfies Partial<ActionRecord>

function mergeSighting(known: ActionRecord, observed: ObservedAction): ActionRecord {
  return {
    ...known,
    identity: observed.identity,
    providerRef: observed.providerRef,
    amount: observed.amount,
    subject: observed.subject,
    objectIds: withAll(known.objectIds, observed.objectIds),
    providerCreatedAt: Math.min(known.providerCreatedAt, observed.createdAt),
    state: RANK[observed.state] > RANK[known.state] ? observed.state : known.state,
  }
}

function withSighting(
  record: ActionRecord,
  sighting: Sighting,
  idempotencyKey: string | null,
  now: number,
): ActionRecord {
  const isNewEvent = !record.eventIds.includes(sighting.eventId)
  return {
    ...record,
    seenThrough: withConnection(record.seenThrough, sighting.connection),
    idempotencyKeys:
      idempotencyKey === null ? record.idempotencyKeys : withAll(record.idempotencyKeys, [idempotencyKey]),
    eventIds: withAll(record.eventIds, [sighting.eventId]),
    timeline:
      isNewEvent && record.timeline.length < MAX_TIMELINE_ENTRIES
        ? [
            ...record.timeline,
            timelineEntry(now, 'event_received', sighting.eventId, `The provider reported ${sighting.eventType}`),
          ]
        : record.timeline,
  }
}

function withConnection(list: readonly SeenThrough[], connection: SeenThrough): readonly SeenThrough[] {
  return list.some(seen => seen.id === connection.id) ? list : [...list, connection]
}

/** The subject with a charge's total; a look is due when the refunds known now do not add up to it. */
export function observeRefundTotal(
  subject: Subject,
  observed: ObservedRefundTotal,
  sighting: Sighting,
  lookDueAt: number,
): Subject {
  const refs = withAll(subject.refs, observed.refs)
  const index = subject.refundTotals.findIndex(
    known => known.identity === observed.identity && known.total === observed.total,
  )
  const known = subject.refundTotals[index]
  const entry: RefundTotal = {
    identity: observed.identity,
    chargeId: observed.chargeId,
    provider: observed.provider,
    subject: observed.subject,
    objectIds: observed.objectIds,
    seenThrough: withConnection(known?.seenThrough ?? [], sighting.connection),
    total: observed.total,
    totalBefore: known?.totalBefore ?? observed.totalBefore,
    currency: observed.currency,
    observedAt: Math.min(known?.observedAt ?? Infinity, observed.observedAt),
    idempotencyKey: known?.idempotencyKey ?? observed.idempotencyKey,
    eventIds: withAll(known?.eventIds ?? [], [sighting.eventId]),
    look: known?.look ?? { dueAt: lookDueAt, doneAt: null },
  }
  const refundTotals =
    known === undefined ? [...subject.refundTotals, entry] : replaceAt(subject.refundTotals, index, entry)
  return { ...subject, refs, refundTotals }
}

/** What a total leaves open: it less what was refunded before the first total known, and less the refunds known. */
export function openAmount(subject: Subject, total: RefundTotal): number {
  const sameCharge = subject.refundTotals.filter(other => other.identity === total.identity)
  const before = Math.min(...sameCharge.map(other => other.totalBefore ?? 0))
  const known = subject.actions
    .filter(action => action.kind === 'refund' && action.objectIds.some(id => total.objectIds.includes(id)))
    .reduce((sum, action) => sum + (action.amount ?? 0), 0)
  return Math.max(0, total.total - before - known)
}

/** The subject with the provisional action that a total's open amount stands for. */
export function addProvisionalAction(subject: Subject, total: RefundTotal, amount: number, now: number): Subject {
  const identity = `${total.identity}/refunded/${total.total}`
  const text = `The charge shows ${amount} more refunded than the known refunds add up to`
  const record: ActionRecord = {
    ...UNJUDGED,
    id: deterministicId('action', identity),
    identity,
    kind: 'refund',
    provider: total.provider,
    seenThrough: total.seenThrough,
    subject: total.subject,
    objectIds: total.objectIds,
    providerRef: null,
    amount,
    currency: total.currency,
    state: 'succeeded',
    providerCreatedAt: total.observedAt,
    idempotencyKeys: total.idempotencyKey === null ? [] : [total.idempotencyKey],
    eventIds: total.eventIds,
    firstSeenAt: now,
    look: total.look,
    timeline: [timelineEntry(now, 'event_received', total.eventIds[0] ?? null, text)],
  }
  return { ...subject, actions: [...subject.actions, record] }
}

/** The subject with an operation as it stands now; an older copy changes nothing. */
export function observeOperation(subject: Subject, operation: Operation): Subject {
  const refs = withAll(subject.refs, operation.refs)
  const index = subject.operations.findIndex(known => known.operation_id === operation.operation_id)
  const known = subject.operations[index]
  if (known === undefined) return { ...subject, refs, operations: [...subject.operations, operation] }
  if (known.version >= operation.version) return subject
  return { ...subject, refs, operations: replaceAt(subject.operations, index, operation) }
}
