import type {
  ActionKind,
  ActorKind,
  Customer,
  ObjectState,
  Origin,
  PaymentFacts,
  ProviderKind,
  ReadTarget,
  RecordKind,
} from '@backstop/contracts'

/** The origin of an event, as ingress knows it. A verdict uses these ids and never ids in the body. */
export interface EventOrigin {
  readonly projectId: string
  readonly connectionId: string
  readonly eventId: string
  readonly eventType: string
}

/** The origin of an object that was read. As for an event, a verdict uses these ids and never ids in the body. */
export interface ObjectOrigin {
  readonly projectId: string
  readonly connectionId: string
  /** The provider's site, if ids are unique only within a site (subscription); otherwise null. */
  readonly site: string | null
  /** The time of the read, in milliseconds since the epoch. It is the version of an object that has no version. */
  readonly readAt: number
  /** The mode of the read key. Absent if the key does not say it, or if the objects do. */
  readonly mode?: 'live' | 'test' | undefined
  /** The connected account from which the object was read. Absent for the account of the read key. */
  readonly account?: string | undefined
}

/** The fields of every sighting. Times are in milliseconds since the epoch. */
export interface SightingFields {
  readonly provider: ProviderKind
  /**
   * The identity of the object. It is equal in all sightings of one object, differs between objects, and starts with the project.
   */
  readonly identity: string
  /** References of the object and of its payment or subscription. */
  readonly refs: readonly string[]
  /** Ids of the payment or subscription that an operation may name. */
  readonly objectIds: readonly string[]
  /** The id of the payment or subscription that is shown to people. */
  readonly subject: string
  /** Absent if the object shows none. */
  readonly details?: SightingDetails
}

/** Details that help a person to act. No verdict depends on them. */
export interface SightingDetails {
  /** How the object was made: only an event or object of its creation has it. */
  readonly origin?: Origin
  /** Who the origin names. The reconciler adds it. */
  readonly actor?: { readonly id: string; readonly kind: ActorKind }
  readonly customer?: Customer
  readonly payment?: PaymentFacts
  readonly mode?: 'live' | 'test'
  /** The id of the connected account, if the platform received the event of one. */
  readonly account?: string
  /** The address of its page in the provider's own dashboard. */
  readonly dashboardUrl?: string
}

/** The time when the money of a refund came back: exact in `at` if an event has it, otherwise not later than `by`. */
export interface CameBack {
  readonly at: number | null
  readonly by: number
}

/**
 * When a refund was made, at a provider where people choose the dates of refunds: exact in `at` if an event that was read says so,
 * otherwise not later than `by`.
 */
export interface MadeTime {
  readonly at: number | null
  readonly by: number
  /** True if the provider takes the date of this refund from the person who records it. */
  readonly isDateChosen?: true
}

/** A sighting of one refund. */
export interface ObservedAction extends SightingFields {
  readonly kind: 'action'
  readonly action: Extract<ActionKind, 'refund'>
  readonly providerRef: string
  /** Ids of the same refund at another provider, e.g. the processor's id for a refund that the biller made through it. */
  readonly gatewayRefs: readonly string[]
  /**
   * The credit notes that the refund pays out. An operation may name a credit note, and several refunds may pay out the same
   * note.
   */
  readonly creditNoteIds?: readonly string[]
  /** Minor units; null if unknown. */
  readonly amount: number | null
  /** ISO 4217 in lower case. */
  readonly currency: string | null
  readonly state: ObjectState
  /**
   * The provider's version of this state (updated_at, resource_version). Null if there is none; then states are ordered by rank.
   */
  readonly stateVersion: number | null
  /** The time of the object at the provider. */
  readonly createdAt: number
  /** Absent if only the provider sets `createdAt`. */
  readonly made?: MadeTime
  /** The time when the money of a failed or cancelled refund came back. Absent if it did not, or if the time is unknown. */
  readonly cameBack?: CameBack
  /** The request that created the refund. Absent if unknown. */
  readonly requestId?: string
  /** The idempotency key of the request that created the refund; null if unknown. */
  readonly idempotencyKey: string | null
  /** True if an uncaptured authorization expired, so that no money moved. */
  readonly isExpiredAuthorization?: true
  /** True if somebody released an uncaptured authorization, so that no money moved. */
  readonly isReleasedAuthorization?: true
}

/**
 * The refunded total of a charge, without its refunds: accounts without refund events send only this. At the second look, the
 * part of the total that no known refund covers becomes a provisional action.
 */
export interface ObservedRefundTotal extends SightingFields {
  readonly kind: 'refund_total'
  readonly chargeId: string
  /** Minor units, cumulative. */
  readonly total: number
  /** The total before this event; null if unknown. */
  readonly totalBefore: number | null
  /** The authorized amount that was never captured. The total may include this amount, although it was not refunded. */
  readonly uncaptured?: number
  readonly currency: string
  /** True if the charge was never captured, so that its refunds released the authorization and moved no money. */
  readonly isReleasedAuthorization?: true
  /** The time of the payment; null if unknown. */
  readonly chargeCreatedAt?: number | null
  /** The provider's time of the event. */
  readonly observedAt: number
  readonly idempotencyKey: string | null
  readonly requestId?: string | null
}

/**
 * The cause of the end of a subscription. `involuntary` means that the provider could not collect. Every cause except `requested`
 * comes from fields that only the provider sets, because a field that anyone with a key can set must not silence an alert.
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

/** The state of the end of a subscription. */
export interface CancellationState {
  /** `none` with the cause `plan_end` is the last term of a plan, which ends at `effectiveAt` without a request. */
  readonly phase: 'none' | 'scheduled' | 'executed'
  /** The time of the request; null if unknown. */
  readonly requestedAt: number | null
  /** The time when the end takes or took effect; null if unknown. */
  readonly effectiveAt: number | null
  /** True if the provider shows that the end was not scheduled before it took effect. */
  readonly isImmediate?: true
  readonly cause: EndCause
  /** The provider's word for the cause; null if there is none. */
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
      /** The ends of its phases, in milliseconds since the epoch. The subscription may show one of them as its own end. */
      readonly phaseEnds: readonly number[]
    }

/** The state of the pause of a subscription. */
export interface PauseState {
  readonly phase: 'none' | 'scheduled' | 'paused'
  readonly effectiveAt: number | null
}

/**
 * The state of a subscription at one time. Cancellations, pauses, resumes and removed schedules follow from the sequence of these
 * states in the provider's order, so that lost or reordered events neither create nor hide one.
 */
export interface ObservedSubscription extends SightingFields {
  readonly kind: 'subscription'
  /** The provider's order of states: its version or the time of the change, in milliseconds. */
  readonly asOf: number
  readonly cancellation: CancellationState
  /**
   * The time of the event by which somebody requested the end, if the event was read. The other times may be chosen by that person.
   */
  readonly requestReportedAt?: number
  readonly pause: PauseState
  /** The phases before this event; null if unknown. */
  readonly before: {
    readonly cancellation: CancellationState['phase'] | null
    readonly pause: PauseState['phase'] | null
  } | null
  /**
   * True if the provider was collecting an overdue payment. An unscheduled end right afterwards has been caused by the provider.
   * Set only for a provider that does not give the cause of an end (reseller).
   */
  readonly isPastDue?: boolean
  /** The object that showed the subscription. Absent if no other object can end the subscription. */
  readonly source?: SubscriptionSource
  readonly idempotencyKey: string | null
  readonly requestId?: string
}

/** A sighting of a kind that is recorded and not judged: a dispute, a credit, a reversal. */
export interface ObservedRecord extends SightingFields {
  readonly kind: 'record'
  readonly record: Extract<RecordKind, 'dispute' | 'credit' | 'reversal'>
  readonly providerRef: string
  readonly amount: number | null
  readonly currency: string | null
  readonly state: ObjectState
  readonly stateVersion: number | null
  readonly createdAt: number
}

/** A state of one object that a provider showed. */
export type Sighting = ObservedAction | ObservedRefundTotal | ObservedSubscription | ObservedRecord

/**
 * The meaning of an event or an object. An ignored event is kept in the inbox with the reason; a malformed event is
 * dead-lettered.
 */
export type Normalised =
  | { readonly kind: 'observed'; readonly sightings: readonly Sighting[] }
  /** The objects to read from the provider. Nothing else of the event is used. */
  | { readonly kind: 'hint'; readonly targets: readonly ReadTarget[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/** Normalises one authentic event. It is pure, never throws, and returns `malformed` for an unreadable event. */
export type NormaliseEvent = (origin: EventOrigin, event: Readonly<Record<string, unknown>>) => Normalised

/**
 * Normalises one object, from the provider's API or from an event. It is pure, never throws, and never returns a hint.
 * @param type the provider's own name of the object's type, e.g. refund, adjustment, subscription
 */
export type NormaliseObject = (
  origin: ObjectOrigin,
  type: string,
  object: Readonly<Record<string, unknown>>,
) => Exclude<Normalised, { kind: 'hint' }>
