import type { ConnectionDocument, InboundEvent, Operation, Recheck } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { type EventOrigin, type NormaliseEvent, PROVIDERS } from '@backstop/providers'
import type { Input } from '../domain/decide.ts'
import type { ConnectionPolicy } from '../domain/policy.ts'
import type { InboxEntry } from '../store/store.ts'

/** One decoded message of a batch, and what it asks of the subjects. */
export type WorkItem =
  | { readonly kind: 'event'; readonly event: InboundEvent; readonly inboxId: string; readonly receivedAt: number }
  | { readonly kind: 'operation'; readonly operation: Operation }
  | { readonly kind: 'recheck'; readonly recheck: Recheck }

/** What the reading of a batch gave, by which an item becomes an input. */
export interface BatchFacts {
  readonly connections: ReadonlyMap<string, ConnectionDocument>
  readonly policies: ReadonlyMap<string, ConnectionPolicy>
}

/** An item that touches a subject. */
export interface Touch {
  readonly projectId: string
  readonly refs: readonly string[]
  /** Built once the facts of the batch are read. */
  input(facts: BatchFacts): Input
  /** Whether a subject is made when there is none yet. */
  readonly creates: boolean
}

/** How an event leaves a mark in the inbox. */
export type InboxOutcome = Pick<InboxEntry['document'], 'outcome' | 'reason'>

export type Reading =
  | { readonly kind: 'touches'; readonly touch: Touch; readonly outcome: InboxOutcome }
  | { readonly kind: 'ignored'; readonly outcome: InboxOutcome }

/** The providers whose events are judged. Others wait in their topics until their meaning is known. */
const NORMALISERS: Partial<Record<InboundEvent['provider'], NormaliseEvent>> = {
  processor: PROVIDERS.processor.normaliseEvent,
}

/** @throws AppError `message_invalid` for an event whose body is not what its type promises: it is parked */
export function readEvent(event: InboundEvent): Reading {
  const origin: EventOrigin = {
    projectId: event.project_id,
    connectionId: event.connection_id,
    eventId: event.event_id,
    eventType: event.event_type,
  }
  const normalise = NORMALISERS[event.provider]
  if (normalise === undefined) return ignored(`Events of the ${event.provider} provider are not judged`)
  const meaning = normalise(origin, event.body)
  switch (meaning.kind) {
    case 'ignored':
      return ignored(meaning.reason)
    case 'hint':
      return ignored(`Events of type ${event.event_type} are not judged`)
    case 'malformed':
      throw new AppError(
        'message_invalid',
        `Event ${event.event_id} of type ${event.event_type} is malformed: ${meaning.reason}`,
      )
    case 'observed': {
      const observed = meaning.observations.find(one => one.kind === 'action' || one.kind === 'refund_total')
      if (observed === undefined) return ignored(`Events of type ${event.event_type} are not judged`)
      const input = (facts: BatchFacts): Input => {
        const createdAt = facts.connections.get(event.connection_id)?.created_at.getTime() ?? 0
        const sighting = {
          connection: { id: event.connection_id, createdAt },
          eventId: event.event_id,
          eventType: event.event_type,
        }
        return observed.kind === 'action'
          ? { kind: 'action', observed, sighting }
          : { kind: 'refund_total', observed, sighting }
      }
      const touch: Touch = { projectId: event.project_id, refs: observed.refs, input, creates: true }
      return { kind: 'touches', touch, outcome: { outcome: 'recorded', reason: 'The event was recorded' } }
    }
    default:
      return meaning satisfies never
  }
}

function ignored(reason: string): Reading {
  return { kind: 'ignored', outcome: { outcome: 'ignored', reason } }
}

/** @returns undefined for an operation that was never sent to the provider: it can explain nothing */
export function touchOfOperation(operation: Operation): Touch | undefined {
  if (operation.executing_at === null) return undefined
  return {
    projectId: operation.project_id,
    refs: operation.refs,
    input: () => ({ kind: 'operation', operation }),
    creates: true,
  }
}

export function touchOfRecheck(recheck: Recheck): Touch {
  return {
    projectId: recheck.project_id,
    refs: [recheck.ref],
    input: facts => ({
      kind: 'second_look',
      lookId: recheck.look_id,
      dueAt: Date.parse(recheck.due_at),
      policies: facts.policies,
    }),
    creates: false,
  }
}
