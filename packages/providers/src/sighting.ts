import type { ActionKind, ObjectState, ProviderKind, ReadTarget, RecordKind } from '@backstop/contracts'

/** What ingress knows about where an event came from; ids that decide anything come from here, never from the body. */
export interface EventOrigin {
  readonly projectId: string
  readonly connectionId: string
  readonly eventId: string
  readonly eventType: string
}

/** Where an object was read from: as for an event, ids that decide anything come from here. */
export interface ObjectOrigin {
  readonly projectId: string
  readonly connectionId: string
  /** The provider's site, where its ids are unique only within one (subscription). */
  readonly site: string | null
  /** When the provider gave it, in milliseconds since the epoch: its version where the object carries none. */
  readonly readAt: number
}

/** What every sighting says. Times are milliseconds since the epoch. */
export interface Observed {
  readonly provider: ProviderKind
  /** The same for everything that tells of this object, and for no other; starts with the project. */
  readonly identity: string
  /** References of the payment or subscription it belongs to, and of itself. */
  readonly refs: readonly string[]
  /** Ids by which an operation may name the payment or subscription. */
  readonly objectIds: readonly string[]
  /** The id of these that people see. */
  readonly subject: string
}

/** When money came back: at the time of the event that told of it, or by the time at which it was seen to be back. */
export interface CameBack {
  readonly at: number | null
  readonly by: number
}

/** One refund that a provider tells of. */
export interface ObservedAction extends Observed {
  readonly kind: 'action'
  readonly action: Extract<ActionKind, 'refund'>
  readonly providerRef: string
  /** Ids that the same refund has at another provider, e.g. the processor's for one that the biller made through it. */
  readonly gatewayRefs: readonly string[]
  /** Credit notes that it pays out: an operation may name one, and several refunds may pay out the same. */
  readonly creditNoteIds?: readonly string[]
  /** Minor units; null where the provider gave none. */
  readonly amount: number | null
  /** ISO 4217 in lower case. */
  readonly currency: string | null
  readonly state: ObjectState
  /** The provider's own version of this state (updated_at, resource_version); null where it has none: then rank orders. */
  readonly stateVersion: number | null
  /** The provider's own time of the object. */
  readonly createdAt: number
  /** When its money came back, as it failed or was canceled; absent where it did not, or nothing says when. */
  readonly cameBack?: CameBack
  /** The request that made it; absent where this event does not know. */
  readonly requestId?: string
  /** The key of the request that made it; null when this event does not know. */
  readonly idempotencyKey: string | null
  /** The provider let an authorization expire that nobody captured: no money moved, and nobody refunded. */
  readonly isExpiredAuthorization?: true
}

/**
 * How much of a charge is refunded by now, without saying by which refunds: what an account without refund events
 * sends. What the known refunds leave open becomes a provisional action at the second look.
 */
export interface ObservedRefundTotal extends Observed {
  readonly kind: 'refund_total'
  readonly chargeId: string
  /** Minor units, cumulative. */
  readonly total: number
  /** The total before this event; null where the event does not say. */
  readonly totalBefore: number | null
  /** How much was authorized and never captured: the total may count it, though nobody refunded it. */
  readonly uncaptured?: number
  readonly currency: string
  /** When the payment was made; null where the charge does not say. */
  readonly chargeCreatedAt?: number | null
  /** The provider's time of the event. */
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly requestId?: string | null
}

/**
 * Why a subscription ends. `involuntary`: the provider could not collect. All but `requested` are said by fields that the provider
 * alone sets: what anybody with a key can write must not silence an alert.
 */
export type EndCause =
  | 'requested'
  | 'involuntary'
  | 'plan_end'
  | 'no_payment_method'
  | 'payment_disputed'
  | 'retention_policy'
  | 'never_began'
  | 'not_billable'

/** Where a subscription stands between running and ended. */
export interface CancellationState {
  readonly phase: 'none' | 'scheduled' | 'executed'
  /** When it was asked for; null where the provider does not say. */
  readonly requestedAt: number | null
  /** When it takes or took effect; null where the provider does not say. */
  readonly effectiveAt: number | null
  /** It took effect when it was asked for: the provider says that nobody had set it before. */
  readonly isImmediate?: true
  readonly cause: EndCause
  /** The provider's own word for the cause; null where there is none. */
  readonly detail: string | null
}

/**
 * What showed a subscription, where an object of its own may end it: the subscription, with the schedule that manages it, or
 * that schedule.
 */
export type SubscriptionSource =
  | { readonly kind: 'subscription'; readonly scheduleId: string | null }
  | {
      readonly kind: 'schedule'
      readonly scheduleId: string
      /** When its phases end, in milliseconds since the epoch: the subscription may show these as its own end. */
      readonly phaseEnds: readonly number[]
    }

export interface PauseState {
  readonly phase: 'none' | 'scheduled' | 'paused'
  readonly effectiveAt: number | null
}

/**
 * A subscription as it stood at one moment. Cancellations, pauses, resumes and removed schedules are read off the row of
 * these, in the provider's own order, so that neither loss nor order of events makes or hides one.
 */
export interface ObservedSubscription extends Observed {
  readonly kind: 'subscription'
  /** The provider's own order of states: its version or time of change, in milliseconds. */
  readonly asOf: number
  readonly cancellation: CancellationState
  readonly pause: PauseState
  /** The phases that this event says were left by it; null where it does not say. */
  readonly before: {
    readonly cancellation: CancellationState['phase'] | null
    readonly pause: PauseState['phase'] | null
  } | null
  /**
   * Whether the provider was trying to collect what is due, where only this tells why an end came (reseller): one that was
   * not scheduled and follows at once is the provider's own. Absent where the cause is said.
   */
  readonly isPastDue?: boolean
  /** Absent where nothing but the subscription itself ends it. */
  readonly source?: SubscriptionSource
  readonly idempotencyKey: string | null
}

/** Something that is recorded as what it is and judged by nobody: a dispute, a credit, a reversal. */
export interface ObservedRecord extends Observed {
  readonly kind: 'record'
  readonly record: Extract<RecordKind, 'dispute' | 'credit' | 'reversal'>
  readonly providerRef: string
  readonly amount: number | null
  readonly currency: string | null
  readonly state: ObjectState
  readonly stateVersion: number | null
  readonly createdAt: number
}

export type Sighting = ObservedAction | ObservedRefundTotal | ObservedSubscription | ObservedRecord

/** What an event or an object means. `ignored` is kept in the inbox with its reason; `malformed` is parked. */
export type Normalised =
  | { readonly kind: 'observed'; readonly sightings: readonly Sighting[] }
  /** Nothing in the event is believed but these ids: the verdict rests on reading them back. */
  | { readonly kind: 'hint'; readonly targets: readonly ReadTarget[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Reads one authentic event of a provider. Pure, and total: what it cannot read is `malformed`, never an exception. */
export type NormaliseEvent = (origin: EventOrigin, event: Readonly<Record<string, unknown>>) => Normalised

/**
 * Reads one object as the provider's API gave it, or as an event holds it: the one place that says what an object means.
 * Pure and total. Never answers a hint.
 * @param type the provider's own name of the object's type, e.g. refund, adjustment, subscription
 */
export type NormaliseObject = (
  origin: ObjectOrigin,
  type: string,
  object: Readonly<Record<string, unknown>>,
) => Exclude<Normalised, { kind: 'hint' }>
