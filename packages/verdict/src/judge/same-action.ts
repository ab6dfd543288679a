import { type ActionRecord, isProvisional, judgementOf, openIncident, type Side } from '../case/action-record.ts'
import { type Case, joinRequestIds, withAll, withConnection, withMessages, withRecord } from '../case/case.ts'
import { asDetails, mergeDetails, withoutOrigin } from '../case/details.ts'
import { withSides } from '../case/sides.ts'
import { timelineEntry } from '../case/timeline.ts'
import { resolveIncident } from '../incident/incidents.ts'
import { recheckEntry } from '../show/outbox-entries.ts'

/**
 * Merges records that turn out to be one action: the same refund at a biller and at its gateway, or two parts of a
 * subscription's history that belong together.
 */

/** True if both objects are the same refund: one names the other as its refund at the gateway. */
export function isSameRefund(a: Side, b: Side): boolean {
  if (a.provider === b.provider) return false
  return a.gatewayRefs.includes(b.providerRef) || b.gatewayRefs.includes(a.providerRef)
}

/** The index of the record with another provider's object of the same refund, or -1. */
export function indexOfLinkedRecord(theCase: Case, side: Side): number {
  return theCase.actions.findIndex(({ kind, sides }) => kind === 'refund' && sides.some(own => isSameRefund(own, side)))
}

/** Merges records of the same refund, also if the link between them becomes known later. */
export function mergeLinkedRefunds(theCase: Case, now: number): Case {
  const linking = theCase.actions.filter(({ sides }) => sides.some(side => side.gatewayRefs.length > 0))
  if (linking.length === 0) return theCase
  const refunds = theCase.actions.filter(({ kind }) => kind === 'refund')
  const named = Map.groupBy(
    refunds.flatMap(record => record.sides.map(side => ({ record, side }))),
    ({ side }) => side.providerRef,
  )
  for (const a of linking) {
    for (const own of a.sides) {
      const other = own.gatewayRefs
        .flatMap(ref => named.get(ref) ?? [])
        .find(({ record, side }) => record !== a && side.provider !== own.provider)
      if (other === undefined) continue
      const [kept, duplicate] = wasSeenFirst(a, other.record) ? [a, other.record] : [other.record, a]
      return mergeLinkedRefunds(mergeRecords(theCase, kept, duplicate, now), now)
    }
  }
  return theCase
}

/** The record that was seen first keeps its id. */
function wasSeenFirst(a: ActionRecord, b: ActionRecord): boolean {
  return a.firstSeenAt < b.firstSeenAt || (a.firstSeenAt === b.firstSeenAt && a.id < b.id)
}

/** Merges one record into another. The verdicts are decided again afterwards. */
export function mergeRecords(theCase: Case, kept: ActionRecord, duplicate: ActionRecord, now: number): Case {
  const text = `It is the same as ${duplicate.id}, which was recorded apart until now`
  const joined: ActionRecord = {
    ...kept,
    seenThrough: duplicate.seenThrough.reduce(withConnection, kept.seenThrough),
    objectIds: withAll(kept.objectIds, duplicate.objectIds),
    idempotencyKeys: withAll(kept.idempotencyKeys, duplicate.idempotencyKeys),
    requestIds: joinRequestIds(kept.requestIds, duplicate.requestIds),
    eventIds: withAll(kept.eventIds, duplicate.eventIds),
    firstSeenAt: Math.min(kept.firstSeenAt, duplicate.firstSeenAt),
    readBack: kept.readBack ?? duplicate.readBack,
    // Those of a subscription's change are derived from its history.
    ...asDetails(kept.turn === null ? mergeDetails(kept.details, detailsFor(kept, duplicate)) : kept.details),
    timeline: [
      ...[...kept.timeline, ...duplicate.timeline].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
      timelineEntry(now, 'event_received', duplicate.id, text),
    ],
  }
  const sides = [...kept.sides, ...duplicate.sides]
  const record = joined.turn !== null || isProvisional(joined) ? joined : withSides(joined, sides)
  return withIncidentsOf(
    {
      ...theCase,
      actions: theCase.actions.flatMap(action =>
        action.id === duplicate.id ? [] : action.id === kept.id ? [record] : [action],
      ),
      merged: [
        ...theCase.merged.map(known => (known.into === duplicate.id ? { ...known, into: kept.id } : known)),
        { record: { ...duplicate, incidents: [] }, into: kept.id },
      ],
    },
    record,
    duplicate,
    now,
  )
}

/** The details of a duplicate that its action shows. The origin of a total is not that of a refund which is known itself. */
function detailsFor(kept: ActionRecord, duplicate: ActionRecord): ActionRecord['details'] {
  return isProvisional(kept) ? duplicate.details : withoutOrigin(duplicate.details)
}

/**
 * Which verdict two merged records have until they are judged again: an alerted one first, then a pending one. An
 * explanation that applies to both is found again at once.
 */
const VERDICTS_BY_WEIGHT: readonly ActionRecord['verdict'][] = ['unexplained', 'pending', 'explained', 'not_alerted']

/** Keeps the incidents of both records. If both have an open incident with the same code, one is resolved. */
function withIncidentsOf(theCase: Case, kept: ActionRecord, duplicate: ActionRecord, now: number): Case {
  const standing =
    VERDICTS_BY_WEIGHT.indexOf(duplicate.verdict) < VERDICTS_BY_WEIGHT.indexOf(kept.verdict) ? duplicate : kept
  const incidents = [...kept.incidents, ...duplicate.incidents]
  const both: ActionRecord = { ...kept, incidents, ...judgementOf(standing) }
  const surplus = duplicate.incidents.filter(
    incident => incident.state !== 'resolved' && openIncident(kept, incident.code) !== undefined,
  )
  const text = 'It is about the same action as another incident'
  return surplus.reduce<Case>(
    (next, incident) => {
      const record = next.actions.find(({ id }) => id === kept.id) ?? both
      return resolveIncident(next, record, incident, { by: null, text }, now)
    },
    withPendingLookOf(withRecord(theCase, both), both, standing, now),
  )
}

/**
 * A pending look has the id of its record. If that record was merged into another one, the look is requested again
 * under the other record's id.
 */
function withPendingLookOf(theCase: Case, kept: ActionRecord, { id, look, verdict }: ActionRecord, now: number): Case {
  if (id === kept.id || verdict !== 'pending' || look === null || look.doneAt !== null) return theCase
  return withMessages(theCase, recheckEntry(theCase, kept.id, look.dueAt, now))
}
