import type { Operation } from '@backstop/contracts'
import { idempotencyReference, objectReference } from '@backstop/contracts'
import { type EventOrigin, type ObservedAction, type ObservedRefundTotal, PROVIDERS } from '@backstop/providers'
import { type ActionRecord, openIncident } from '../src/case/action-record.ts'
import type { Case, SightingSource } from '../src/case/case.ts'
import type { ConnectionPolicy } from '../src/case/connection-policy.ts'
import type { DecisionContext } from '../src/case/decision-context.ts'
import type { IncidentRecord } from '../src/case/incident-record.ts'
import { type PendingLook, pendingLooks } from '../src/case/looks.ts'
import type { LookFacts } from '../src/case/whom-to-ask.ts'
import { decide, type Input } from '../src/decide/decide.ts'

/** A fixed time in whole seconds, as providers give times. */
export const T0 = Date.parse('2026-11-21T10:00:00.000Z')
export const SECOND = 1_000
export const MINUTE = 60_000
export const RULES = { recheckDelayMs: MINUTE }

/** The context of a decision at this time. */
export const contextAt = (now: number): DecisionContext => ({ now, ...RULES })
export const PROJECT = 'prj_test'
export const CONNECTION = 'con_a'

export function emptyCase(): Case {
  return {
    id: 'sub_test',
    projectId: PROJECT,
    version: 1,
    refs: [],
    actions: [],
    merged: [],
    evicted: [],
    refundTotals: [],
    subscriptions: [],
    operations: [],
    followedOperations: [],
    expectedChanges: [],
    outbox: [],
    createdAt: T0,
  }
}

export interface RefundFacts {
  id?: string
  amount?: number
  currency?: string
  charge?: string | null
  paymentIntent?: string | null
  status?: string
  createdAt?: number
  idempotencyKey?: string
  requestId?: string
  eventType?: string
  /** The time of the event. */
  reportedAt?: number
}

/** A refund event of the card processor with the relevant fields, read by the real normaliser. */
export function refundSeen(facts: RefundFacts = {}, source: Partial<SightingSource> = {}): Input {
  const eventType = facts.eventType ?? 'refund.created'
  const id = facts.id ?? 're_1'
  const eventId = source.eventId ?? `evt_${id}_${eventType}`
  const sighting = firstObserved(
    { projectId: PROJECT, connectionId: CONNECTION, eventId, eventType },
    {
      id: eventId,
      object: 'event',
      type: eventType,
      created: (facts.reportedAt ?? T0) / 1000,
      livemode: true,
      request: { id: facts.requestId ?? null, idempotency_key: facts.idempotencyKey ?? null },
      data: {
        object: {
          id,
          object: 'refund',
          amount: facts.amount ?? 2499,
          currency: facts.currency ?? 'eur',
          charge: facts.charge === undefined ? 'ch_1' : facts.charge,
          payment_intent: facts.paymentIntent === undefined ? 'pi_1' : facts.paymentIntent,
          created: Math.floor((facts.createdAt ?? T0) / 1000),
          status: facts.status ?? 'succeeded',
        },
      },
    },
  ) as ObservedAction
  return { kind: 'sighting', sighting, source: sourceOf(eventId, eventType, source) }
}

/** The sighting of an event of the card processor. */
function firstObserved(origin: EventOrigin, event: Readonly<Record<string, unknown>>): unknown {
  const meaning = PROVIDERS.processor.normaliseEvent(origin, event)
  return meaning.kind === 'observed' ? meaning.sightings[0] : meaning
}

export interface TotalFacts {
  total: number
  before?: number
  charge?: string
  paymentIntent?: string | null
  createdAt?: number
  idempotencyKey?: string
  requestId?: string
  chargeCreatedAt?: number
  /** The authorized amount of the payment that was not captured. */
  uncaptured?: number
}

/** A charge.refunded event. */
export function totalSeen(facts: TotalFacts, source: Partial<SightingSource> = {}): Input {
  const eventId = source.eventId ?? `evt_charge_${facts.total}`
  const sighting = firstObserved(
    { projectId: PROJECT, connectionId: CONNECTION, eventId, eventType: 'charge.refunded' },
    {
      created: Math.floor((facts.createdAt ?? T0) / 1000),
      livemode: true,
      request: { id: facts.requestId ?? null, idempotency_key: facts.idempotencyKey ?? null },
      data: {
        object: {
          ...{ id: facts.charge ?? 'ch_1', object: 'charge', amount_refunded: facts.total, currency: 'eur' },
          payment_intent: facts.paymentIntent === undefined ? 'pi_1' : facts.paymentIntent,
          ...(facts.uncaptured === undefined ? {} : capturedWithout(facts.uncaptured)),
          created: facts.chargeCreatedAt === undefined ? null : facts.chargeCreatedAt / 1000,
        },
        previous_attributes: facts.before === undefined ? {} : { amount_refunded: facts.before },
      },
    },
  ) as ObservedRefundTotal
  return { kind: 'sighting', sighting, source: sourceOf(eventId, 'charge.refunded', source) }
}

function capturedWithout(uncaptured: number): object {
  return { captured: true, amount: 1000, amount_captured: 1000 - uncaptured }
}

export function sourceOf(eventId: string, eventType: string, more: Partial<SightingSource> = {}): SightingSource {
  return { connection: { id: CONNECTION, createdAt: T0 - 60 * MINUTE }, eventId, eventType, readFor: null, ...more }
}

/** By default an operation that executed at T0 and completed a second later. */
export function operation(facts: Partial<Operation> = {}): Operation {
  const subject = facts.subject ?? 'pi_1'
  const refs = [subject, facts.provider_ref ?? null]
    .filter(id => id !== null)
    .map(id => objectReference(PROJECT, 'processor', undefined, id))
  const key = facts.idempotency_key ?? null
  return {
    operation_id: 'op_1',
    project_id: PROJECT,
    connection_id: CONNECTION,
    provider: 'processor',
    version: 1,
    kind: 'refund',
    subject,
    amount: 2499,
    currency: 'eur',
    provider_ref: null,
    idempotency_key: null,
    run_id: null,
    state: 'completed',
    reason: null,
    executing_at: new Date(T0).toISOString(),
    ended_at: new Date(T0 + SECOND).toISOString(),
    created_at: new Date(T0).toISOString(),
    updated_at: new Date(T0).toISOString(),
    refs: key === null ? refs : [...refs, idempotencyReference(PROJECT, 'processor', key)],
    ...facts,
  }
}

export function operationSeen(facts: Partial<Operation> = {}): Input {
  return { kind: 'operation', operation: operation(facts) }
}

export function policy(facts: Partial<ConnectionPolicy> = {}): ConnectionPolicy {
  return {
    connectionId: CONNECTION,
    provider: 'processor',
    outOfBand: 'alert',
    deleted: false,
    canRead: false,
    hasExecuted: false,
    ...facts,
  }
}

/** Applies inputs one after another, each at its time. */
export function play(steps: readonly { at: number; input: Input }[], start: Case = emptyCase()): Case {
  return steps.reduce((theCase, { at, input }) => decide(theCase, input, contextAt(at)), start)
}

/** The facts of a look with these policies. Every provider can answer every question. */
export function lookFacts(policies: readonly ConnectionPolicy[] = [policy()]): LookFacts {
  return {
    policies: new Map(policies.map(item => [item.connectionId, item])),
    targetsOf: (_provider, { action, providerRef, objectIds }) => {
      const id = providerRef ?? objectIds[0] ?? ''
      return [{ type: action === 'refund' ? 'refund' : 'subscription', id }]
    },
  }
}

/**
 * A look that is due, or that the provider has answered.
 * @param connectionId the connection that asked
 */
export function look(
  { lookId, dueAt }: Pick<PendingLook, 'lookId' | 'dueAt'>,
  facts: LookFacts = lookFacts(),
  outcome: 'read' | 'not_found' | 'unavailable' | null = null,
  connectionId?: string,
): Input {
  const answer = outcome === null ? null : { outcome, ...(connectionId === undefined ? {} : { connectionId }) }
  return { kind: 'second_look', lookId, dueAt, facts, answer }
}

/** Takes all pending second looks, each at its due time. */
export function lookAll(theCase: Case, policies: readonly ConnectionPolicy[] = [policy()]): Case {
  return secondLooks(theCase).reduce(
    (next, pending) => decide(next, look(pending, lookFacts(policies)), contextAt(pending.dueAt)),
    theCase,
  )
}

/** Second looks only. The other looks are due much later. */
export function secondLooks(theCase: Case): readonly PendingLook[] {
  return pendingLooks(theCase).filter(({ kind }) => kind === 'action' || kind === 'refund_total')
}

/** Judges every alerted action again that waits for a later decision, at its time. */
export function decideAgain(theCase: Case): Case {
  return pendingLooks(theCase)
    .filter(({ kind }) => kind === 'decision')
    .reduce((next, pending) => decide(next, look(pending), contextAt(pending.dueAt)), theCase)
}

/** The case's only action. */
export function onlyAction(theCase: Case): ActionRecord {
  const [action, ...others] = theCase.actions
  if (action === undefined || others.length > 0) throw new Error(`Expected one action, found ${theCase.actions.length}`)
  return action
}

/** The event names of the alerts in the case's outbox. */
export function alertsOf(theCase: Case): string[] {
  return theCase.outbox.flatMap(entry => (entry.topic === 'alerts' ? [(entry.message as { event: string }).event] : []))
}

/** The UNEXPECTED_ACTION incident of an action, open or resolved. */
export function unexpectedActionIncident(action: ActionRecord | undefined): IncidentRecord | undefined {
  return action?.incidents.find(incident => incident.code === 'UNEXPECTED_ACTION')
}

/** True if the action has an open UNEXPECTED_ACTION incident. */
export function hasOpenAlert(action: ActionRecord): boolean {
  return openIncident(action, 'UNEXPECTED_ACTION') !== undefined
}
