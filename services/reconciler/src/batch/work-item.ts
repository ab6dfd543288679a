import {
  HEADERS,
  type InboundEvent,
  type Operation,
  outOfBandOf,
  type Readback,
  type ReadObject,
  type ReadTarget,
  type Recheck,
  type Reread,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { type Normalised, PROVIDERS, type Sighting } from '@backstop/providers'
import type { ChangeIncident, ErasureScope, Input, SightingSource } from '@backstop/verdict'
import type { KnownActors } from '../actors/actor-directory.ts'
import {
  type ConnectionWithAccounts,
  type KeptConnection,
  type NamedConnection,
  namesOf,
} from '../connections/connection-reader.ts'
import type { InboxEntry } from '../inbox/inbox-store.ts'
import { canRead } from '../reading/connection-readers.ts'
import { rereadOfTargets } from '../reading/held-hints.ts'
import { type UnusableObject, unusableObject } from './unusable-objects.ts'

/**
 * One decoded message of a batch. An item that changes a case as it is has the kind of its input. `traceparent` is the span of its
 * processing; absent if it has none.
 */
export type WorkItem = WorkContent & { readonly traceparent?: string }

type WorkContent =
  | {
      readonly kind: 'event'
      readonly event: InboundEvent
      readonly inboxId: string
      readonly receivedAt: number
      /** The replay that decides the event again, although it is done. Absent for an event from ingress. */
      readonly replayId?: string
    }
  /**
   * An operation that was reported, or that a search has found unknown to its case. `mayCreate` is set for a completed operation of
   * whose payment or subscription no case exists.
   */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly mayCreate?: true }
  /** A look that is due. `receivedAtMs` is when this process received it, in milliseconds since the epoch. */
  | { readonly kind: 'recheck'; readonly recheck: Recheck; readonly receivedAtMs?: number }
  | { readonly kind: 'readback'; readonly readback: Readback }
  /** Asks to decide a case again, because a new expected change may cover its actions. */
  | { readonly kind: 'expected_changes'; readonly projectId: string; readonly ref: string }
  /** Erases personal data of a case. */
  | {
      readonly kind: 'erase_personal_data'
      readonly projectId: string
      readonly ref: string
      readonly scope: ErasureScope
    }
  /** A person changes an incident of a case. */
  | {
      readonly kind: 'change_incident'
      readonly projectId: string
      readonly ref: string
      readonly command: ChangeIncident
    }
  /** A sighting as it is, for tests. */
  | {
      readonly kind: 'sighting'
      readonly projectId: string
      readonly sighting: Sighting
      readonly source: SightingSource
    }

export type EventItem = Extract<WorkItem, { kind: 'event' }>

/** @param headers the headers of the message */
export function itemOfEvent(event: InboundEvent, headers: Readonly<Record<string, string>> = {}): EventItem {
  const inboxId = `${event.connection_id}/${event.event_id}`
  const replayId = headers[HEADERS.replayId]
  const item = { kind: 'event', event, inboxId, receivedAt: Date.parse(event.received_at) } as const
  return replayId === undefined ? item : { ...item, replayId }
}

/** A change of one case. */
export interface CaseInput {
  readonly projectId: string
  readonly refs: readonly string[]
  readonly input: InputWithoutFacts
  /**
   * True if it makes a case if none has its references, with the operations that the ledger has for them. Otherwise it changes
   * existing cases only: a case that is made later reads its operations from the ledger.
   */
  readonly mayCreate?: true
  /** True if it was loaded from the database, not requested by a message. */
  readonly isLoaded?: true
  /** The span of its work item. */
  readonly traceparent?: string
}

/** An input of which the facts for looks are not loaded yet. */
export type InputWithoutFacts = Exclude<Input, LookOfCase> | Omit<LookOfCase, 'facts'>
type LookOfCase = Extract<Input, { kind: 'second_look' }>

/** The outcome of an event, as the inbox shows it. */
export type ShownOutcome = Pick<InboxEntry['document'], 'outcome' | 'reason'>

/** What a work item changes and requests. */
export interface ItemEffects {
  readonly caseInputs: readonly CaseInput[]
  /** The outcome of an event; null for an item of another kind. */
  readonly outcome: ShownOutcome | null
  /** The re-read that a hint asks for; null if the provider need not be asked. */
  readonly reread: Reread | null
  /** True if the body of the event is not kept, because its connection was deleted. */
  readonly isBodyErased?: true
  /** Objects of a provider's answer that cannot be used. They are dead-lettered; the rest of the answer is used. */
  readonly unusable: readonly UnusableObject[]
}

/** What the effects of work items depend on, besides the items. */
export interface EffectContext {
  /** Must include the connection that received the item. */
  readonly connections: ReadonlyMap<string, NamedConnection>
  /** Those that have the rule about second refunds. */
  readonly withRule: ReadonlyMap<string, ConnectionWithAccounts>
  readonly actors: KnownActors
  readonly now: number
}

/**
 * @throws AppError `message_invalid` for an event that does not fit its type; the work loop dead-letters it
 */
export function effectsOf(item: WorkItem, context: EffectContext): ItemEffects {
  const effects = effectsOfContent(item, context)
  const { traceparent } = item
  if (traceparent === undefined) return effects
  return { ...effects, caseInputs: effects.caseInputs.map(caseInput => ({ ...caseInput, traceparent })) }
}

function effectsOfContent(item: WorkContent, context: EffectContext): ItemEffects {
  const { connections } = context
  switch (item.kind) {
    case 'operation':
      return changesOnly(caseInputsOfOperation(item.operation, item.mayCreate ? { mayCreate: true } : {}))
    case 'recheck':
      return changesOnly([caseInputOfRecheck(item.recheck)])
    case 'readback':
      return effectsOfReadback(item.readback, connections.get(item.readback.connection_id), context)
    case 'event': {
      const connection = connections.get(item.event.connection_id)
      const effects = effectsOfEvent(item.event, connection, context)
      return connection?.status === 'deleted' ? { ...effects, isBodyErased: true } : effects
    }
    case 'expected_changes':
      // `loadRound` loads them.
      return changesOnly([caseInputOf(item, { kind: item.kind, expectedChanges: [] })])
    case 'erase_personal_data':
      return changesOnly([caseInputOf(item, { kind: item.kind, scope: item.scope })])
    case 'change_incident':
      return changesOnly([caseInputOf(item, { kind: item.kind, command: item.command })])
    case 'sighting':
      return changesOnly([caseInputOfSighting(item.projectId, item.sighting, item.source)])
    default:
      return item satisfies never
  }
}

function changesOnly(caseInputs: readonly CaseInput[], outcome: ShownOutcome | null = null): ItemEffects {
  return { caseInputs, outcome, reread: null, unusable: [] }
}

function effectsOfEvent(
  event: InboundEvent,
  connection: NamedConnection | undefined,
  context: EffectContext,
): ItemEffects {
  const { project_id, connection_id, event_id, event_type, provider } = event
  const origin = { projectId: project_id, connectionId: connection_id, eventId: event_id, eventType: event_type }
  const meaning = PROVIDERS[provider].normaliseEvent(origin, event.body)
  switch (meaning.kind) {
    case 'ignored':
      return changesOnly([], { outcome: 'ignored', reason: meaning.reason })
    case 'malformed':
      throw malformedMessageError(`Event ${event_id} of type ${event_type}`, meaning.reason)
    case 'hint':
      return effectsOfHint(event, meaning.targets, connection, context.now)
    case 'observed': {
      const cause = { eventId: event_id, eventType: event_type, readFor: null }
      const caseInputs = caseInputsOfSightings(meaning.sightings, event, cause, context)
      return changesOnly(caseInputs, { outcome: 'recorded', reason: 'The event was recorded' })
    }
    default:
      return meaning satisfies never
  }
}

/**
 * The content of a hint is not trusted, so the provider is asked. If the connection cannot be read, the hint is held.
 */
function effectsOfHint(
  event: InboundEvent,
  targets: readonly ReadTarget[],
  connection: KeptConnection | undefined,
  now: number,
): ItemEffects {
  if (connection === undefined || connection.status === 'deleted') {
    return changesOnly([], { outcome: 'ignored', reason: 'The connection was deleted' })
  }
  if (!canRead(connection)) {
    return changesOnly([], {
      outcome: 'held',
      reason: 'The connection has no read key, so the provider cannot be asked',
    })
  }
  const outcome = { outcome: 'hinted', reason: 'The provider is asked' } as const
  return { caseInputs: [], outcome, reread: rereadOfTargets(event, targets, now), unusable: [] }
}

/**
 * The inputs of the found objects come before the input of the look that waits for them. An unusable object does not
 * affect the others.
 */
function effectsOfReadback(
  readback: Readback,
  connection: NamedConnection | undefined,
  context: EffectContext,
): ItemEffects {
  const { project_id, connection_id, event, look, reason } = readback
  const cause = { eventId: event?.event_id ?? null, eventType: event?.event_type ?? reason, readFor: reason }
  const found: CaseInput[] = []
  const unusable: UnusableObject[] = []
  for (const object of readback.objects) {
    const meaning = meaningOf(readback, connection, object)
    if (meaning.kind === 'malformed') unusable.push(unusableObject(readback, object, meaning.reason))
    if (meaning.kind !== 'observed') continue
    found.push(...caseInputsOfSightings(meaning.sightings, readback, cause, context))
  }
  // The objects of a deleted connection were erased, so they are not dead-lettered: a dead letter would store them again.
  const isErased = connection?.status === 'deleted'
  const effects = { outcome: null, reread: null, unusable: isErased ? [] : unusable }
  if (look === null) return { ...effects, caseInputs: found }
  // An answer with unusable objects is treated as no answer: a missing object must not count as not found.
  const outcome = unusable.length === 0 ? readback.outcome : 'unavailable'
  const dueAt = Date.parse(look.due_at)
  const looking: CaseInput = {
    projectId: project_id,
    refs: [look.ref],
    input: { kind: 'second_look', lookId: look.look_id, dueAt, answer: { outcome, connectionId: connection_id } },
  }
  return { ...effects, caseInputs: [...found, looking] }
}

function meaningOf(
  { project_id, connection_id, provider, read_at }: Readback,
  connection: KeptConnection | undefined,
  { type, body, fault, mode, account }: ReadObject,
): Exclude<Normalised, { kind: 'hint' }> {
  if (fault !== undefined) return { kind: 'malformed', reason: fault }
  const origin = {
    projectId: project_id,
    connectionId: connection_id,
    site: connection?.site ?? null,
    // Providers give the times of events in whole seconds, so an answer from the same second as a change may be older
    // than the change.
    readAt: Math.floor(Date.parse(read_at) / 1000) * 1000,
    mode,
    account,
  }
  return PROVIDERS[provider].normaliseObject(origin, type, body)
}

const HOUR_MS = 3_600_000

function seenThrough(
  id: string,
  connection: NamedConnection | undefined,
): Pick<SightingSource, 'connection' | 'names'> {
  if (connection === undefined) return { connection: { id, createdAt: 0 } }
  return { connection: { id, createdAt: connection.created_at.getTime() }, names: namesOf(connection) }
}

/** The rule about second refunds, with the setting of the account that has the object; undefined without the rule. */
function secondRefundRule(
  connection: ConnectionWithAccounts | undefined,
  { details }: Sighting,
): SightingSource['refundedTwice'] {
  const hours = connection?.refunded_twice_within_hours
  if (connection === undefined || hours == null || connection.status === 'deleted') return undefined
  return { withinMs: hours * HOUR_MS, outOfBand: outOfBandOf(connection, details?.account) }
}

/** The sighting with the actor that it names. The details of a deleted connection are erased, so later ones are not kept. */
function keptSighting(
  projectId: string,
  sighting: Sighting,
  connection: NamedConnection | undefined,
  actors: KnownActors,
): Sighting {
  if (connection?.status !== 'deleted') {
    const actor = actors.identify(projectId, sighting)
    return actor === undefined ? sighting : { ...sighting, details: { ...sighting.details, actor } }
  }
  const { details: _details, ...kept } = sighting
  return kept
}

function caseInputsOfSightings(
  sightings: readonly Sighting[],
  { project_id, connection_id }: Pick<InboundEvent, 'project_id' | 'connection_id'>,
  cause: Pick<SightingSource, 'eventId' | 'eventType' | 'readFor'>,
  context: EffectContext,
): CaseInput[] {
  const connection = context.connections.get(connection_id)
  return sightings.map(seen => {
    const sighting = keptSighting(project_id, seen, connection, context.actors)
    const rule = secondRefundRule(context.withRule.get(connection_id), seen)
    const source = { ...seenThrough(connection_id, connection), ...cause, ...(rule && { refundedTwice: rule }) }
    return caseInputOfSighting(project_id, sighting, source)
  })
}

function caseInputOfSighting(projectId: string, sighting: Sighting, source: SightingSource): CaseInput {
  return { projectId, refs: sighting.refs, input: { kind: 'sighting', sighting, source }, mayCreate: true }
}

function malformedMessageError(what: string, reason: string): AppError {
  return new AppError('message_invalid', `${what} is malformed: ${reason}`)
}

/** @returns none for an operation that was never sent to the provider, because it can explain nothing */
export function caseInputsOfOperation(
  operation: Operation,
  how: Pick<CaseInput, 'mayCreate' | 'isLoaded'>,
): readonly CaseInput[] {
  if (operation.executing_at === null) return []
  const { project_id: projectId, refs } = operation
  return [{ ...how, projectId, refs, input: { kind: 'operation', operation } }]
}

function caseInputOf(
  { projectId, ref }: { readonly projectId: string; readonly ref: string },
  input: CaseInput['input'],
): CaseInput {
  return { projectId, refs: [ref], input }
}

function caseInputOfRecheck({ project_id: projectId, ref, look_id: lookId, due_at }: Recheck): CaseInput {
  return caseInputOf({ projectId, ref }, { kind: 'second_look', lookId, dueAt: Date.parse(due_at), answer: null })
}
