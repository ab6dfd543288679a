import type { ActionKind, ObjectState, ProviderKind, ReadTarget, RecordKind } from '@backstop/contracts'

/** Where an event came from, as ingress knows it. Ids that matter for a verdict come from here, never from the body. */
export interface EventOrigin {
  readonly projectId: string
  readonly connectionId: string
  readonly eventId: string
  readonly eventType: string
}

/** Where an object was read. As for an event, ids that matter for a verdict come from here. */
export interface ObjectOrigin {
  readonly projectId: string
  readonly connectionId: string
  /** The provider's site, if its ids are unique in a site only (subscription). */
  readonly site: string | null
  /** When it was read, in milliseconds since the epoch: its version if the object has none. */
  readonly readAt: number
}

/** The fields of every sighting. Times are in milliseconds since the epoch. */
export interface Observed {
  readonly provider: ProviderKind
  /** The identity of the object: equal in all its sightings, different for every other object. It starts with the project. */
  readonly identity: string
  /** References of its payment or subscription, and of the object. */
  readonly refs: readonly string[]
  /** Ids of the payment or subscription that an operation may name. */
  readonly objectIds: readonly string[]
  /** The one of these ids that people see. */
  readonly subject: string
}

/** When money came back: at the time of the event about it, or by the time at which it had come back. */
export interface CameBack {
  readonly at: number | null
  readonly by: number
}

/** A sighting of one refund. */
export interface ObservedAction extends Observed {
  readonly kind: 'action'
  readonly action: Extract<ActionKind, 'refund'>
  readonly providerRef: string
  /** Ids of the same refund at another provider, e.g. the processor's id for a refund that the biller made through it. */
  readonly gatewayRefs: readonly string[]
  /** Credit notes that it pays out. An operation may name one, and several refunds may pay out the same note. */
  readonly creditNoteIds?: readonly string[]
  /** Minor units; null: unknown. */
  readonly amount: number | null
  /** ISO 4217 in lower case. */
  readonly currency: string | null
  readonly state: ObjectState
  /** The provider's version of this state (updated_at, resource_version); null: none, and the rank of states orders them. */
  readonly stateVersion: number | null
  /** The provider's own time of the object. */
  readonly createdAt: number
  /** When the money of a failed or cancelled refund came back; absent: it did not, or the time is unknown. */
  readonly cameBack?: CameBack
  /** The request that created it; absent: unknown. */
  readonly requestId?: string
  /** The idempotency key of the request that created it; null: unknown. */
  readonly idempotencyKey: string | null
  /** Whether an uncaptured authorization expired: no money moved. */
  readonly isExpiredAuthorization?: true
}

/**
 * The refunded total of a charge, without its refunds: accounts without refund events send only this. At the second look, the
 * part of the total that no known refund covers becomes a provisional action.
 */
export interface ObservedRefundTotal extends Observed {
  readonly kind: 'refund_total'
  readonly chargeId: string
  /** Minor units, cumulative. */
  readonly total: number
  /** The total before this event; null: unknown. */
  readonly totalBefore: number | null
  /** The authorized amount that was never captured. The total may include it, though it was not refunded. */
  readonly uncaptured?: number
  readonly currency: string
  /** When the payment was made; null: unknown. */
  readonly chargeCreatedAt?: number | null
  /** The provider's time of the event. */
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly requestId?: string | null
}

/**
 * Why a subscription ends. involuntary: the provider could not collect. Every cause except `requested` comes from fields that
 * only the provider sets: a field that anyone with a key can set must not silence an alert.
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

/** How far the end of a subscription is. */
export interface CancellationState {
  readonly phase: 'none' | 'scheduled' | 'executed'
  /** When it was requested; null: unknown. */
  readonly requestedAt: number | null
  /** When it takes or took effect; null: unknown. */
  readonly effectiveAt: number | null
  /** Whether it took effect when it was requested: the provider says that it was not scheduled before. */
  readonly isImmediate?: true
  readonly cause: EndCause
  /** The provider's word for the cause; null: none. */
  readonly detail: string | null
}

/**
 * The object that showed a subscription which another object may end: the subscription with the schedule that manages it, or
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

/** How far the pause of a subscription is. */
export interface PauseState {
  readonly phase: 'none' | 'scheduled' | 'paused'
  readonly effectiveAt: number | null
}

/**
 * The state of a subscription at one time. Cancellations, pauses, resumes and removed schedules follow from the sequence of these
 * states in the provider's order, so that lost or reordered events neither create nor hide one.
 */
export interface ObservedSubscription extends Observed {
  readonly kind: 'subscription'
  /** The provider's order of states: its version or the time of the change, in milliseconds. */
  readonly asOf: number
  readonly cancellation: CancellationState
  readonly pause: PauseState
  /** The phases before this event; null: unknown. */
  readonly before: {
    readonly cancellation: CancellationState['phase'] | null
    readonly pause: PauseState['phase'] | null
  } | null
  /**
   * Whether the provider was collecting an overdue payment. Set if only this shows the cause of an end (reseller): an unscheduled
   * end right after it is the provider's. Absent if the provider says the cause.
   */
  readonly isPastDue?: boolean
  /** Absent: no other object ends it. */
  readonly source?: SubscriptionSource
  readonly idempotencyKey: string | null
}

/** A sighting of a kind that is recorded and not judged: a dispute, a credit, a reversal. */
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

/** What a provider showed of one object. */
export type Sighting = ObservedAction | ObservedRefundTotal | ObservedSubscription | ObservedRecord

/** The meaning of an event or an object. ignored: kept in the inbox with its reason. malformed: dead-lettered. */
export type Normalised =
  | { readonly kind: 'observed'; readonly sightings: readonly Sighting[] }
  /** Only these ids of the event are used: the objects are read from the provider. */
  | { readonly kind: 'hint'; readonly targets: readonly ReadTarget[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Normalises one authentic event. Pure; it answers `malformed` for an unreadable event and never throws. */
export type NormaliseEvent = (origin: EventOrigin, event: Readonly<Record<string, unknown>>) => Normalised

/**
 * Normalises one object, from the provider's API or from an event. Pure; it never throws and never answers a hint.
 * @param type the provider's own name of the object's type, e.g. refund, adjustment, subscription
 */
export type NormaliseObject = (
  origin: ObjectOrigin,
  type: string,
  object: Readonly<Record<string, unknown>>,
) => Exclude<Normalised, { kind: 'hint' }>
