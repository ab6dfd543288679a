import { type ActionRecord, isProvisional, judgementOf, openIncident, type Side } from '../case/action-record.ts'
import { type Case, withAll, withConnection, withRecord } from '../case/case.ts'
import { withSides } from '../case/sides.ts'
import { timelineEntry } from '../case/timeline.ts'
import { resolveIncident } from './incidents.ts'
import { recheckEntry } from './outbox-entries.ts'

/** Records that turn out to be one: the same refund at a biller and at its gateway, or two turns that were one. */

/** Whether the objects are one refund: the one names the other as its own at the gateway. */
export function isSameRefund(a: Side, b: Side): boolean {
  if (a.provider === b.provider) return false
  return a.gatewayRefs.includes(b.providerRef) || b.gatewayRefs.includes(a.providerRef)
}

/** The record of another provider's object that is this very refund: its index, or -1. */
export function linkedRecord(theCase: Case, side: Side): number {
  return theCase.actions.findIndex(({ kind, sides }) => kind === 'refund' && sides.some(own => isSameRefund(own, side)))
}

/** The case with one record for each refund, also where the link was learned after both were seen. */
export function joinLinked(theCase: Case, now: number): Case {
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
      const [kept, duplicate] = isFirst(a, other.record) ? [a, other.record] : [other.record, a]
      return joinLinked(mergeRecords(theCase, kept, duplicate, now), now)
    }
  }
  return theCase
}

/** The one that people have seen for longer keeps its name. */
function isFirst(a: ActionRecord, b: ActionRecord): boolean {
  return a.firstSeenAt < b.firstSeenAt || (a.firstSeenAt === b.firstSeenAt && a.id < b.id)
}

/** The case with all of one record in another. Verdicts are judged anew afterwards. */
export function mergeRecords(theCase: Case, kept: ActionRecord, duplicate: ActionRecord, now: number): Case {
  const text = `It is the same as ${duplicate.id}, which was recorded apart until now`
  const joined: ActionRecord = {
    ...kept,
    seenThrough: duplicate.seenThrough.reduce(withConnection, kept.seenThrough),
    objectIds: withAll(kept.objectIds, duplicate.objectIds),
    idempotencyKeys: withAll(kept.idempotencyKeys, duplicate.idempotencyKeys),
    eventIds: withAll(kept.eventIds, duplicate.eventIds),
    firstSeenAt: Math.min(kept.firstSeenAt, duplicate.firstSeenAt),
    readBack: kept.readBack ?? duplicate.readBack,
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
        ...theCase.merged.map(one => (one.into === duplicate.id ? { ...one, into: kept.id } : one)),
        { record: { ...duplicate, incidents: [] }, into: kept.id },
      ],
    },
    record,
    duplicate,
    now,
  )
}

/**
 * Which verdict of two stands until they are judged as one: what people were told, then what still waits. An explanation
 * that holds for both comes again at once.
 */
const VERDICTS_BY_WEIGHT: readonly ActionRecord['verdict'][] = ['unexplained', 'pending', 'explained', 'not_alerted']

/** What people were told of both stays told; of two open incidents that say the same, one is over. */
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
    withLookOf(withRecord(theCase, both), both, standing, now),
  )
}

/** A look that another record waited for goes by a new name: the message under way would find nobody. */
function withLookOf(theCase: Case, kept: ActionRecord, { id, look, verdict }: ActionRecord, now: number): Case {
  if (id === kept.id || verdict !== 'pending' || look === null || look.doneAt !== null) return theCase
  return { ...theCase, outbox: [...theCase.outbox, recheckEntry(theCase, kept.id, look.dueAt, now)] }
}
