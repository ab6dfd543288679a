import type {
  ConnectionDocument,
  DryRunBasis,
  ExpectedChangeDocument,
  InboxDocument,
  Operation,
  ProviderKind,
  Why,
} from '@backstop/contracts'
import type { ActionRecord, Case, ExpectedChangeUses } from '@backstop/verdict'
import type { WorkItem } from '../batch/work-item.ts'
import { type StoredFact, storedFacts } from './stored-facts.ts'

/** An event of the inbox. Its raw body is null if the body's retention has ended. */
export interface StoredEvent {
  readonly document: InboxDocument
  /** JSON text. */
  readonly body: string | null
}

/** A work item for the reconciler, and when it arrives, in milliseconds since the epoch. */
export interface Arrival {
  readonly at: number
  readonly item: WorkItem
}

/** The provider's answer to a look; null if it never arrived. */
export type StoredAnswer = {
  readonly at: number
  readonly outcome: NonNullable<Why['read_back']>
  /** The provider's answer to a later question, if it did not answer the look in time. */
  readonly later?: 'confirmed' | 'not_found'
} | null

/** All inputs for the verdicts of one payment or subscription, in order of time. */
export interface History {
  readonly arrivals: readonly Arrival[]
  /** By the id of the look. A look without an entry was not taken when the case was decided. */
  readonly answers: ReadonlyMap<string, StoredAnswer>
  readonly basis: DryRunBasis
}

/** The operations, connections and expected changes for the histories that are replayed together. */
export interface HistoryContext {
  readonly operations: readonly Operation[]
  /** As they are today, including deleted connections. */
  readonly connections: ReadonlyMap<string, ConnectionDocument>
  /**
   * When the first operation of each connection reached `executing`, in milliseconds since the epoch, by connection id.
   */
  readonly firstExecutions: ReadonlyMap<string, number>
  readonly expectedChanges: readonly ExpectedChangeDocument[]
  /** How much of the expected changes is used today, also by cases that are not replayed. */
  readonly expectedChangeUses: readonly ExpectedChangeUses[]
}

/**
 * The history of a case.
 * @param theCase undefined if no case was created from its events
 * @param events all events of the case that are in the inbox
 */
export function historyOf(theCase: Case | undefined, events: readonly StoredEvent[]): History {
  const signed = events.filter(({ document }) => document.provider !== 'subscription')
  const facts = theCase === undefined ? [] : storedFacts(theCase, events)
  const isWhole =
    signed.length > 0 && signed.every(({ body }) => body !== null) && !facts.some(hasEventOutsideInbox(events))
  const told = isWhole ? signed : []
  const arrivals = [
    ...told.map(arrivalOfEvent),
    ...facts.filter(fact => !isReportedBy(fact, told)).flatMap(arrivalsOfFact),
  ]
  return {
    arrivals: arrivals.toSorted((a, b) => a.at - b.at),
    answers: theCase === undefined ? new Map() : answersOf(theCase),
    basis: isWhole ? 'events' : signed.length > 0 ? 'expired' : 'reading',
  }
}

/**
 * True if an event of the fact is no longer in the inbox. Facts of the subscription biller are known from re-reads, not
 * from events.
 */
function hasEventOutsideInbox(events: readonly StoredEvent[]): (fact: StoredFact) => boolean {
  const known = new Set(events.map(({ document }) => document.event_id))
  return ({ provider, eventIds }) => provider !== 'subscription' && eventIds.some(id => !known.has(id))
}

function isReportedBy(
  { provider, eventIds }: { provider: ProviderKind; eventIds: readonly string[] },
  told: readonly StoredEvent[],
) {
  return told.some(({ document }) => document.provider === provider && eventIds.includes(document.event_id))
}

/**
 * An event arrives in the replay when it was processed, not when it was received, because the time of first sight and
 * the second look depend on that.
 */
function arrivalOfEvent(event: StoredEvent): Arrival {
  return { at: event.document.processed_at.getTime(), item: eventItem(event) }
}

/** The event as a work item. */
export function eventItem({ document, body }: StoredEvent): WorkItem {
  const { _id: inboxId, provider, project_id, connection_id, event_id, event_type, received_at } = document
  const event = {
    provider,
    project_id,
    connection_id,
    event_id,
    event_type,
    received_at: received_at.toISOString(),
    body: JSON.parse(body ?? '{}') as Record<string, unknown>,
  }
  return { kind: 'event', event, inboxId, receivedAt: received_at.getTime() }
}

function arrivalsOfFact({ at, projectId, sightings, sources }: StoredFact): Arrival[] {
  return sightings.flatMap(sighting =>
    sources.map(source => ({ at, item: { kind: 'sighting' as const, projectId, sighting, source } })),
  )
}

const wasAsked = (look: ActionRecord['look']) => look !== null && look.askedAt !== null

function answersOf(theCase: Case): ReadonlyMap<string, StoredAnswer> {
  const ofActions = theCase.actions.flatMap(({ id, look, readBack }): [string, StoredAnswer][] =>
    wasAsked(look) ? [[id, answerOf(look, readBack)]] : [],
  )
  const ofSteps = theCase.refundTotals.flatMap(({ id, look }): [string, StoredAnswer][] =>
    wasAsked(look) ? [[id, answerAt(look?.doneAt ?? null, 'confirmed')]] : [],
  )
  return new Map([...ofActions, ...ofSteps])
}

function answerOf(look: ActionRecord['look'], readBack: ActionRecord['readBack']): StoredAnswer {
  const at = look?.doneAt ?? null
  const late = look?.lateReading
  if (late === undefined) return answerAt(at, readBack ?? 'confirmed')
  const unanswered = answerAt(at, 'unavailable')
  if (unanswered === null || late.outcome === null) return unanswered
  return { ...unanswered, later: late.outcome === 'not_found' ? 'not_found' : 'confirmed' }
}

function answerAt(at: number | null, outcome: NonNullable<Why['read_back']>): StoredAnswer {
  return at === null ? null : { at, outcome }
}
