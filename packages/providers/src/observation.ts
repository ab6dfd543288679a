import type { ActionKind, ObjectState, ProviderKind } from '@backstop/contracts'

/** What ingress knows about where an event came from; ids that decide anything come from here, never from the body. */
export interface EventOrigin {
  readonly projectId: string
  readonly connectionId: string
  readonly eventId: string
  readonly eventType: string
}

/** One refund or cancellation that an event tells of. Times are milliseconds since the epoch. */
export interface ObservedAction {
  readonly kind: 'action'
  readonly action: ActionKind
  readonly provider: ProviderKind
  /** The same for every event about this refund or cancellation, and for no other; starts with the project. */
  readonly identity: string
  /** References of the payment or subscription it belongs to, and of itself. */
  readonly refs: readonly string[]
  /** Ids by which an operation may name the payment or subscription. */
  readonly objectIds: readonly string[]
  /** The id of these that people see. */
  readonly subject: string
  readonly providerRef: string
  /** Minor units; null where the provider gave none. */
  readonly amount: number | null
  /** ISO 4217 in lower case. */
  readonly currency: string | null
  readonly state: ObjectState
  /** The provider's own time of the object. */
  readonly createdAt: number
  /** The key of the request that made it; null when this event does not know. */
  readonly idempotencyKey: string | null
}

/**
 * How much of a charge is refunded by now, without saying by which refunds: what an account without refund events
 * sends. What the known refunds leave open becomes a provisional action at the second look.
 */
export interface ObservedRefundTotal {
  readonly kind: 'refund_total'
  readonly provider: ProviderKind
  /** Identity of the charge; starts with the project. */
  readonly identity: string
  readonly refs: readonly string[]
  readonly objectIds: readonly string[]
  readonly subject: string
  readonly chargeId: string
  /** Minor units, cumulative. */
  readonly total: number
  /** The total before this event; null where the event does not say. */
  readonly totalBefore: number | null
  readonly currency: string
  /** The provider's time of the event. */
  readonly observedAt: number
  readonly idempotencyKey: string | null
}

/** What an event means. `ignored` is kept in the inbox with its reason; `malformed` is parked. */
export type Normalised =
  | ObservedAction
  | ObservedRefundTotal
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Reads one authentic event of a provider. Pure, and total: what it cannot read is `malformed`, never an exception. */
export type Normalise = (origin: EventOrigin, event: Readonly<Record<string, unknown>>) => Normalised
