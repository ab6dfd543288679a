import { deterministicId, type ObjectState, type Operation } from '@backstop/contracts'
import type { ObservedAction } from '@backstop/providers'
import { timelineEntry } from './projection.ts'
import { provisionalFor } from './refund-steps.ts'
import { type ActionRecord, replaceAt, type Sighting, type Subject, withAll, withConnection } from './subject.ts'

/** A story is for people: an action that something hammers keeps the beginning of it. */
const MAX_TIMELINE_ENTRIES = 100
const MAX_EVENT_IDS = 100
/** A payment that a loop refunds again and again keeps the latest operations; the second look reads the ledger itself. */
const MAX_OPERATIONS = 500

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
  return index >= 0 ? index : provisionalFor(subject, observed)
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
  // What a provisional action is said to be was guessed from a total: the refund itself knows better.
  const isGuessed = known.providerRef === null
  return {
    ...known,
    identity: observed.identity,
    providerRef: observed.providerRef,
    amount: observed.amount,
    subject: observed.objectIds.length > 1 ? observed.subject : known.subject,
    objectIds: withAll(known.objectIds, observed.objectIds),
    providerCreatedAt: isGuessed ? observed.createdAt : Math.min(known.providerCreatedAt, observed.createdAt),
    state: isGuessed || ranksAbove(observed.state, known.state) ? observed.state : known.state,
  }
}

/** Two final states of one rank have an order too, so that it does not matter which is told first. */
function ranksAbove(a: ObjectState, b: ObjectState): boolean {
  return RANK[a] > RANK[b] || (RANK[a] === RANK[b] && a > b)
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
    eventIds: record.eventIds.length < MAX_EVENT_IDS ? withAll(record.eventIds, [sighting.eventId]) : record.eventIds,
    timeline:
      isNewEvent && record.timeline.length < MAX_TIMELINE_ENTRIES
        ? [
            ...record.timeline,
            timelineEntry(now, 'event_received', sighting.eventId, `The provider reported ${sighting.eventType}`),
          ]
        : record.timeline,
  }
}

/**
 * The subject with an operation as it stands now; an older copy changes nothing, and neither does one that was never
 * sent to the provider, because it can explain nothing.
 */
export function observeOperation(subject: Subject, operation: Operation): Subject {
  if (operation.executing_at === null) return subject
  const refs = withAll(subject.refs, operation.refs)
  const index = subject.operations.findIndex(known => known.operation_id === operation.operation_id)
  const known = subject.operations[index]
  if (known !== undefined && known.version >= operation.version) return subject
  if (known !== undefined) return { ...subject, refs, operations: replaceAt(subject.operations, index, operation) }
  return { ...subject, refs, operations: withinLimit(subject, [...subject.operations, operation]) }
}

/** The operations without the oldest that explains nothing, when there are too many. */
function withinLimit(subject: Subject, operations: readonly Operation[]): readonly Operation[] {
  if (operations.length <= MAX_OPERATIONS) return operations
  const explaining = new Set(subject.actions.map(action => action.operationId))
  const spare = operations.findIndex(operation => !explaining.has(operation.operation_id))
  return operations.toSpliced(Math.max(0, spare), 1)
}
