import type {
  ConnectionDocument,
  ExpectedChangeDocument,
  InboxDocument,
  Operation,
  ProviderKind,
  Why,
} from '@backstop/contracts'
import type { WorkItem } from '../batch/work-item.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChangeUses } from '../expected-change/expected-change-uses.ts'
import { type StoredFact, storedFacts } from './stored-facts.ts'

/** An event of the inbox with its raw body, or null once that is past its retention. */
export interface KeptEvent {
  readonly document: InboxDocument
  /** JSON text. */
  readonly body: string | null
}

/** Something that the reconciler takes in, and when it did, in milliseconds since the epoch. */
export interface Arrival {
  readonly at: number
  readonly item: WorkItem
}

/** What the provider said when a look asked it; null where its answer never came. */
export type StoredAnswer = {
  readonly at: number
  readonly outcome: NonNullable<Why['read_back']>
  /** What it said to a question after the alert, where it had not answered in time. */
  readonly later?: 'confirmed' | 'not_found'
} | null

/** Everything that the verdicts of one payment or subscription rest on, in order of time. */
export interface History {
  readonly arrivals: readonly Arrival[]
  /** By the id of the look. A look that is not in here was not taken then. */
  readonly answers: ReadonlyMap<string, StoredAnswer>
  /**
   * What today's rules are put to. events: the bodies of the events, read once more from the beginning. reading: what was
   * understood then of what the provider was read to say (after hints, by sweeps), because that is not kept. expired: what
   * was understood then of events whose bodies are past their retention.
   */
  readonly basis: 'events' | 'reading' | 'expired'
}

/** What surrounds a history: the same for all that are replayed together. */
export interface Surroundings {
  readonly operations: readonly Operation[]
  /** As they are today, deleted ones too. */
  readonly connections: ReadonlyMap<string, ConnectionDocument>
  /** When an operation of the connection first reached executing, in milliseconds since the epoch, by the connection. */
  readonly firstExecutions: ReadonlyMap<string, number>
  readonly expectedChanges: readonly ExpectedChangeDocument[]
  /** What is taken of them today: by changes of this history and of others, which are not replayed with it. */
  readonly expectedChangeUses: readonly ExpectedChangeUses[]
}

/**
 * The history of a case.
 * @param theCase undefined where nothing was made of its events then
 * @param events every event that the inbox has of it
 */
export function historyOf(theCase: Case | undefined, events: readonly KeptEvent[]): History {
  const signed = events.filter(({ document }) => document.provider !== 'subscription')
  const facts = theCase === undefined ? [] : storedFacts(theCase, events)
  const isWhole = signed.length > 0 && signed.every(({ body }) => body !== null) && !facts.some(isBeyondInbox(events))
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

/** Whether an event that told of it is not in the inbox any more. What hints led to was read, and told by none. */
function isBeyondInbox(events: readonly KeptEvent[]): (fact: StoredFact) => boolean {
  const known = new Set(events.map(({ document }) => document.event_id))
  return ({ provider, eventIds }) => provider !== 'subscription' && eventIds.some(id => !known.has(id))
}

function isReportedBy(
  { provider, eventIds }: { provider: ProviderKind; eventIds: readonly string[] },
  told: readonly KeptEvent[],
) {
  return told.some(({ document }) => document.provider === provider && eventIds.includes(document.event_id))
}

/** An event counts as taken in when it was recorded, not when it came: so do first sight and the minute after it. */
function arrivalOfEvent(event: KeptEvent): Arrival {
  return { at: event.document.processed_at.getTime(), item: eventItem(event) }
}

/** The event as the reconciler takes it in. */
export function eventItem({ document, body }: KeptEvent): WorkItem {
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

const asked = (look: ActionRecord['look']) => look !== null && look.askedAt !== null

function answersOf(theCase: Case): ReadonlyMap<string, StoredAnswer> {
  const ofActions = theCase.actions.flatMap(({ id, look, readBack }): [string, StoredAnswer][] =>
    asked(look) ? [[id, answerOf(look, readBack)]] : [],
  )
  const ofSteps = theCase.refundTotals.flatMap(({ id, look }): [string, StoredAnswer][] =>
    asked(look) ? [[id, answerAt(look?.doneAt ?? null, 'confirmed')]] : [],
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
