import type { ProviderKind } from '@backstop/contracts'
import type { Sighting, SightingFields } from '@backstop/providers'
import {
  type ActionRecord,
  type Aspect,
  type Case,
  type RefundTotal,
  type SeenThrough,
  type Side,
  type SightingSource,
  type Snapshot,
  type SubscriptionRow,
  spansOf,
} from '@backstop/verdict'
import type { StoredEvent } from './history.ts'

/** The stored data of one object of a provider, as sightings that can be replayed. */
export interface StoredFact {
  readonly provider: ProviderKind
  readonly projectId: string
  /** When it became known, in milliseconds since the epoch. */
  readonly at: number
  /** The events that reported it; empty if only re-reads or sweeps showed it. */
  readonly eventIds: readonly string[]
  readonly sightings: readonly Sighting[]
  /** One source for each connection that showed it. */
  readonly sources: readonly SightingSource[]
}

/**
 * Turns the stored data of a case back into sightings. Derived records are left out, because the replay derives them
 * again: provisional refunds, and cancellations from snapshots.
 * @param events the events of the case that are in the inbox; they give the times
 */
export function storedFacts(theCase: Case, events: readonly StoredEvent[]): StoredFact[] {
  const processedAt = new Map(events.map(({ document }) => [document.event_id, document.processed_at.getTime()]))
  const toldAt = (eventIds: readonly string[]) => eventIds.flatMap(id => processedAt.get(id) ?? [])
  return [
    ...theCase.actions.flatMap(action => action.sides.map(side => factOfSide(theCase, action, side))),
    ...theCase.refundTotals.map(total => factOfTotal(theCase, total, toldAt(total.eventIds))),
    ...theCase.subscriptions.flatMap(row =>
      row.snapshots.map(snapshot => factOfSnapshot(theCase, row, snapshot, toldAt(snapshot.eventIds))),
    ),
  ]
}

function factOfSide(theCase: Case, action: ActionRecord, side: Side): StoredFact {
  const { amount, currency, state, stateVersion, createdAt, made, cameBack, requestId, providerRef } = side
  const known = { ...observedFields(theCase, side), providerRef, amount, currency, state, stateVersion, createdAt }
  const said = {
    ...(made === undefined ? {} : { made }),
    ...(cameBack === undefined ? {} : { cameBack }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  const { kind } = action
  const sightings: Sighting[] =
    kind === 'dispute' || kind === 'credit' || kind === 'reversal'
      ? [{ kind: 'record', record: kind, ...known }]
      : keysOrNull(action.idempotencyKeys).map(idempotencyKey => ({
          kind: 'action',
          action: 'refund',
          ...known,
          ...said,
          gatewayRefs: side.gatewayRefs,
          ...(side.creditNoteIds === undefined ? {} : { creditNoteIds: side.creditNoteIds }),
          idempotencyKey,
          ...(side.isExpiredAuthorization ? { isExpiredAuthorization: true as const } : {}),
        }))
  return storedFact(theCase, action.firstSeenAt, action.eventIds, sightings, action.seenThrough)
}

function factOfTotal(theCase: Case, total: RefundTotal, toldAt: readonly number[]): StoredFact {
  const {
    chargeId,
    totalBefore,
    uncaptured = 0,
    currency,
    chargeCreatedAt = null,
    observedAt,
    idempotencyKey,
    requestId = null,
  } = total
  const { eventIds, seenThrough } = total
  const sighting: Sighting = {
    kind: 'refund_total',
    ...observedFields(theCase, total),
    chargeId,
    total: total.total,
    totalBefore,
    uncaptured,
    currency,
    chargeCreatedAt,
    observedAt,
    idempotencyKey,
    requestId,
  }
  const at = toldAt.length > 0 ? Math.min(...toldAt) : Math.max(observedAt, theCase.createdAt)
  return storedFact(theCase, at, eventIds, [sighting], seenThrough)
}

function factOfSnapshot(
  theCase: Case,
  row: SubscriptionRow,
  snapshot: Snapshot,
  toldAt: readonly number[],
): StoredFact {
  const { asOf, cancellation, pause, before, isPastDue, source, isBaseline, idempotencyKeys, eventIds, seenThrough } =
    snapshot
  const { requestReportedAt } = snapshot
  const sightings = keysOrNull(idempotencyKeys).map(
    (idempotencyKey): Sighting => ({
      kind: 'subscription',
      ...observedFields(theCase, row),
      asOf,
      cancellation,
      ...(requestReportedAt === undefined ? {} : { requestReportedAt }),
      pause,
      before,
      isPastDue,
      ...(source === undefined ? {} : { source }),
      idempotencyKey,
    }),
  )
  const connectedAt = Math.min(...seenThrough.map(({ createdAt }) => createdAt))
  const shownAt = toldAt.length > 0 ? Math.min(...toldAt) : Math.max(asOf, connectedAt, theCase.createdAt)
  // A snapshot arrives after its record was first seen, because the first snapshot of a record creates it.
  const at = Math.max(shownAt, ...firstSeenTimes(theCase, row, asOf))
  return storedFact(theCase, at, eventIds, sightings, seenThrough, isBaseline ? 'baseline' : 'sweep')
}

const ASPECTS: readonly Aspect[] = ['cancellation', 'pause']

/** For each record that includes this time: when the record was first seen. */
function firstSeenTimes(theCase: Case, row: SubscriptionRow, asOf: number): number[] {
  return ASPECTS.flatMap(aspect => {
    const span = spansOf(row, aspect).find(({ from, to }) => from <= asOf && asOf <= to)
    if (span === undefined) return []
    return theCase.actions.flatMap(({ turn, firstSeenAt }) => {
      const isOfRow = turn?.row === row.identity && turn.aspect === aspect && turn.part === span.part
      return isOfRow && span.from <= turn.anchor && turn.anchor <= span.to ? [firstSeenAt] : []
    })
  })
}

function observedFields(
  theCase: Case,
  { provider, identity, objectIds, subject: about }: Omit<SightingFields, 'refs' | 'details'>,
): SightingFields {
  return { provider, identity, objectIds, subject: about, refs: theCase.refs }
}

/** A sighting has at most one idempotency key, so a record with several keys becomes several sightings. */
function keysOrNull(keys: readonly string[]): readonly (string | null)[] {
  return keys.length === 0 ? [null] : keys
}

function storedFact(
  { projectId }: Case,
  at: number,
  eventIds: readonly string[],
  sightings: readonly Sighting[],
  seenThrough: readonly SeenThrough[],
  reading: SightingSource['reading'] = 'sweep',
): StoredFact {
  const sources = seenThrough.map(connection => ({ connection, eventId: null, eventType: 'stored', reading }))
  return { provider: sightings[0]?.provider ?? 'processor', projectId, at, eventIds, sightings, sources }
}
