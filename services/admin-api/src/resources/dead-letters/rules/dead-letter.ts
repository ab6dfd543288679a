import {
  type DeadLetter,
  type DeadLetterDocument,
  type DeliveryDocument,
  INBOUND_TOPICS,
  type InboxDocument,
} from '@backstop/contracts'
import { type ResendVerdict, resendRefusal } from '../../deliveries/rules/delivery.ts'

/** A dead letter, in the collection of its owner. */
export type FoundDeadLetter =
  | { readonly kind: 'message'; readonly letter: DeadLetterDocument }
  | { readonly kind: 'notification'; readonly entry: InboxDocument; readonly hasBody: boolean }
  | { readonly kind: 'delivery'; readonly delivery: DeliveryDocument; readonly resend: ResendVerdict }

/** Its place in the list of all dead letters. */
export function placeOf(found: FoundDeadLetter): { readonly id: string; readonly at: Date } {
  switch (found.kind) {
    case 'message':
      return { id: found.letter._id, at: found.letter.parked_at }
    case 'notification':
      return { id: found.entry._id, at: found.entry.processed_at }
    case 'delivery':
      return { id: found.delivery._id, at: found.delivery.updated_at }
    default:
      return found satisfies never
  }
}

/** The newest first; of the same time, by id. Every collection is read in this order. */
export function newestFirst(one: FoundDeadLetter, other: FoundDeadLetter): number {
  const [a, b] = [placeOf(one), placeOf(other)]
  return b.at.getTime() - a.at.getTime() || (a.id < b.id ? 1 : -1)
}

export function projectOf(found: FoundDeadLetter): string | null {
  switch (found.kind) {
    case 'message':
      return found.letter.project_id
    case 'notification':
      return found.entry.project_id
    case 'delivery':
      return found.delivery.project_id
    default:
      return found satisfies never
  }
}

/** Why a dead letter cannot be sent again; null if it can. */
export function repairBlockedBy(found: FoundDeadLetter): string | null {
  switch (found.kind) {
    case 'message':
      return null
    case 'notification':
      return found.hasBody ? null : 'Its body is not kept any more; let the provider send the event again'
    case 'delivery':
      return resendRefusal(found.resend)
    default:
      return found satisfies never
  }
}

/** Why a dead letter cannot be dismissed; null if it can. */
export function dismissalBlockedBy({ kind }: FoundDeadLetter): string | null {
  switch (kind) {
    case 'message':
      return null
    case 'notification':
      return 'it is a notification of a provider, and has no verdict yet; replay it, or let the provider send it again'
    case 'delivery':
      return 'it is a delivery; replay it, or delete its channel'
    default:
      return kind satisfies never
  }
}

/** A dead letter as the API shows it, without its content. */
export function showDeadLetter(found: FoundDeadLetter): DeadLetter {
  const blocked = repairBlockedBy(found)
  const { resource, repair, ...facts } = factsOf(found)
  const { id, at } = placeOf(found)
  return {
    dead_letter_id: id,
    project_id: projectOf(found),
    ...facts,
    parked_at: at.toISOString(),
    resource,
    repair: blocked === null ? { method: 'POST', path: repair } : null,
    repair_blocked_by: blocked,
    dismiss:
      dismissalBlockedBy(found) === null ? { method: 'POST', path: pathOf('dead-letters', id, 'dismiss') } : null,
  }
}

type Facts = Pick<DeadLetter, 'kind' | 'topic' | 'key' | 'bytes' | 'reason_code' | 'reason' | 'resource'> & {
  readonly repair: string
}

function factsOf(found: FoundDeadLetter): Facts {
  switch (found.kind) {
    case 'message': {
      const { _id, kind, topic, key, value, reason_code, reason } = found.letter
      const bytes = value === null ? 0 : Buffer.byteLength(value, 'base64')
      const repair = pathOf('dead-letters', _id, 'replay')
      return { kind, topic, key, bytes, reason_code, reason, resource: resourceOf(found.letter), repair }
    }
    case 'notification': {
      const { connection_id, event_id, provider, reason } = found.entry
      const resource = pathOf('inbox', connection_id, event_id)
      const none = { key: null, bytes: null, reason_code: null }
      const topic = INBOUND_TOPICS[provider]
      return { kind: 'notification', topic, ...none, reason, resource, repair: `${resource}/replay` }
    }
    case 'delivery': {
      const { _id, reason } = found.delivery
      const resource = pathOf('deliveries', _id)
      const none = { key: null, bytes: null, reason_code: null }
      return { kind: 'delivery', topic: 'deliveries', ...none, reason, resource, repair: `${resource}/retry` }
    }
    default:
      return found satisfies never
  }
}

function resourceOf({ _id, kind, key, resource_id }: DeadLetterDocument): string | null {
  // The dead letter of an object has the connection as its key.
  if (kind === 'provider_object') return pathOf('inbox', key, _id)
  if (resource_id === null) return null
  if (kind === 'operation') return pathOf('operations', resource_id)
  return kind === 'delivery' ? pathOf('deliveries', resource_id) : null
}

const pathOf = (...parts: readonly string[]) => `/v1/${parts.map(encodeURIComponent).join('/')}`
