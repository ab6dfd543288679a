import type {
  Difference,
  LookedConnection,
  ObjectState,
  ProviderKind,
  TimelineEntry,
  VerdictReason,
  Why,
} from '@backstop/contracts'
import type { CameBack, EndCause, MadeTime } from '@backstop/providers'
import type { KnownDetails } from './details.ts'
import type { IncidentRecord } from './incident-record.ts'

/**
 * A refund, a cancellation, or another recorded change, with everything known about it. The type of its fields depends
 * on how it is known and on its verdict.
 */
export type ActionRecord = ObjectRecord | ProvisionalRefund | SubscriptionRecord

export type ObjectRecord = RecordBase & ObjectFacts & Judgement
export type ProvisionalRefund = RecordBase & ProvisionalFacts & Judgement
export type SubscriptionRecord = RecordBase & SubscriptionFacts & Judgement

interface RecordBase {
  readonly id: string
  /**
   * The same for all events about the action. A provisional refund gets the identity of the refund that replaces it.
   */
  readonly identity: string
  readonly provider: ProviderKind
  readonly seenThrough: readonly SeenThrough[]
  readonly subject: string
  /** Ids that an operation may use to name the payment or subscription. */
  readonly objectIds: readonly string[]
  readonly state: ObjectState
  /** True if it released an authorization that was never captured, so that no money moved. */
  readonly isRelease?: true
  /** When it was made or requested, as far as the provider says it: never a date that a person chose. */
  readonly providerCreatedAt: number
  readonly idempotencyKeys: readonly string[]
  /** Ids of the requests that made it, besides those in its sides. Absent if none is known. */
  readonly requestIds?: readonly string[] | undefined
  readonly eventIds: readonly string[]
  readonly firstSeenAt: number
  /** The provider's answer to the second look or to a later question; null if the provider was not asked. */
  readonly readBack: Why['read_back']
  readonly differences: readonly Difference[]
  readonly incidents: readonly IncidentRecord[]
  readonly timeline: readonly TimelineEntry[]
  /** Details that are not in its sides: of its subscription, or of the charge that it refunds. Absent if none is known. */
  readonly details?: KnownDetails
  /** Other days for which the action was counted earlier, because its time or its first connection changed. Absent means none. */
  readonly earlierDays?: readonly CountedDay[]
  /** The version of the case that last changed how lists show the record (projection.ts). */
  readonly changedIn: number
}

/** The connection and the day (UTC) for which an action or incident is counted in the daily totals. */
export interface CountedDay {
  readonly connectionId: string
  /** Midnight, in milliseconds since the epoch. */
  readonly day: number
}

/** An action that is known from objects of providers. */
interface ObjectFacts {
  readonly kind: 'refund' | 'dispute' | 'credit' | 'reversal'
  /** One side for each provider object of the action. */
  readonly sides: readonly Side[]
  readonly turn: null
  readonly providerRef: string
  readonly amount: number | null
  readonly currency: string | null
  readonly madeFrom?: null
  readonly subscriptionContinues?: never
}

/** A refund that is known only from refunded totals of its charge. */
interface ProvisionalFacts {
  readonly kind: 'refund'
  readonly sides: readonly []
  readonly turn: null
  readonly providerRef: null
  readonly amount: number
  readonly currency: string
  /** The refund was made between this time and `providerCreatedAt`. */
  readonly madeFrom: number
  readonly subscriptionContinues?: never
}

/** Derived from the snapshots of a subscription. */
interface SubscriptionFacts {
  readonly kind: 'cancellation' | 'pause' | 'resume' | 'schedule_removal'
  readonly sides: readonly []
  readonly turn: SubscriptionSection
  /**
   * Of a cancellation that is over: true if the subscription continues, false if another cancellation followed. Absent
   * otherwise.
   */
  readonly subscriptionContinues?: boolean
  /** The id of the subscription. */
  readonly providerRef: string
  readonly amount: null
  readonly currency: null
  readonly madeFrom?: null
}

/** A verdict, its reason, and the facts behind it. */
export type Judgement = Pending | Unexplained | ((ExplainedVerdict | ExemptVerdict | SilencedVerdict) & OptionalLook)

interface NoExplanation {
  readonly operationId: null
  readonly expectedChangeId: null
}

export interface Pending extends NoExplanation {
  readonly verdict: 'pending'
  readonly reason: 'awaiting_second_look'
  /** Null until the action is judged for the first time. */
  readonly look: Look | null
  readonly quietFor: readonly []
  readonly decideAgainAt?: null
}

/** How an operation matches an action, strongest first. */
export type Match = Exclude<Extract<VerdictReason, `${string}_match` | `${string}_matches`>, 'expected_change_matches'>
/** Evidence in the provider's own data. */
export type Evidence = Extract<VerdictReason, 'made_before_connection' | 'scheduled_before'>

type Explanation =
  | { readonly reason: Match; readonly operationId: string; readonly expectedChangeId: null }
  | { readonly reason: 'expected_change_matches'; readonly operationId: null; readonly expectedChangeId: string }
  | ({ readonly reason: Evidence } & NoExplanation)

export type ExplainedVerdict = Explanation & { readonly verdict: 'explained'; readonly quietFor: readonly [] }

/** Verdicts that need no second look. The look may be done or still to come. */
interface OptionalLook {
  readonly look: Look | null
  readonly decideAgainAt?: null
}

export interface Unexplained extends NoExplanation {
  readonly verdict: 'unexplained'
  readonly reason: 'nothing_explains_it'
  readonly look: DoneLook
  readonly quietFor: readonly []
  /**
   * When to decide again, in milliseconds since the epoch. Set if an operation matches by amount and time only. From
   * this time on the operation's own refund can no longer arrive, so the operation may explain this action.
   */
  readonly decideAgainAt?: number | null
}

/** Reasons why the settings of its connections keep an unexplained action from alerting. */
export type SilencedReason = Extract<
  VerdictReason,
  'out_of_band_ignore' | 'auto_before_first_operation' | 'connection_deleted'
>
/** Reasons why an action needs no explanation. */
export type ExemptReason = Exclude<
  VerdictReason,
  Pending['reason'] | Explanation['reason'] | Unexplained['reason'] | SilencedReason
>

/** The action needs no explanation. */
export interface ExemptVerdict extends NoExplanation {
  readonly verdict: 'not_alerted'
  readonly reason: ExemptReason
  readonly quietFor: readonly []
}

/** The action is unexplained, and the settings of its connections do not alert. */
interface SilencedVerdict extends NoExplanation {
  readonly verdict: 'not_alerted'
  readonly reason: SilencedReason
  /**
   * Ids of the connections whose settings gave the verdict. If a further connection shows the action, it is judged
   * again.
   */
  readonly quietFor: readonly string[]
}

/** A connection that showed an action. */
export interface SeenThrough {
  readonly id: string
  /** When the connection was made. Actions that the provider made before are explained by that. */
  readonly createdAt: number
}

/** A check that is due at an absolute time, so that a restart does not change when it is due. */
export type Look = OpenLook | DoneLook

interface OpenLook {
  readonly dueAt: number
  /** When the provider was last asked, or should have been asked; null if it was not asked yet. */
  readonly askedAt: number | null
  readonly doneAt: null
  readonly lateReading?: never
  /** The result of an earlier second look of the same action. Absent if there was none. */
  readonly earlier?: LookResult
}

/** When a second look found no explanation, and the facts that decided whether the action alerted. */
export interface LookResult {
  readonly doneAt: number
  readonly connections: readonly LookedConnection[]
}

export interface DoneLook {
  readonly dueAt: number
  readonly askedAt: number | null
  readonly doneAt: number
  /** See LookResult. Absent in a look at a refund total, and in older cases. */
  readonly connections?: readonly LookedConnection[]
  /** Set if an alert was sent although the provider had not answered. */
  readonly lateReading?: LateReading
}

/** The questions to the provider after an alert that was sent without its answer. */
export type LateReading =
  | { readonly tries: number; readonly nextAt: number; readonly outcome: null }
  /** Finished. `outcome` is null if the provider never answered. */
  | { readonly tries: number; readonly nextAt: null; readonly outcome: 'confirmed' | 'not_found' | null }

/**
 * One object of one provider that shows the action. A refund that a biller makes through its gateway has an object at
 * both.
 */
export interface Side {
  readonly identity: string
  readonly provider: ProviderKind
  readonly providerRef: string
  /** Ids that the same refund has at another provider. */
  readonly gatewayRefs: readonly string[]
  /** Ids of the credit notes that this refund pays out. */
  readonly creditNoteIds?: readonly string[]
  readonly subject: string
  readonly objectIds: readonly string[]
  readonly amount: number | null
  readonly currency: string | null
  readonly state: ObjectState
  readonly stateVersion: number | null
  readonly createdAt: number
  /** See ObservedAction. */
  readonly made?: MadeTime
  /** Absent if the money did not come back, or if it is unknown when. */
  readonly cameBack?: CameBack
  /** Id and idempotency key of the request that made the object; absent if the object's events do not contain them. */
  readonly requestId?: string
  readonly idempotencyKey?: string
  /** Set if the object itself says that it is a dispute. Another provider may show the same object as a refund. */
  readonly isDispute?: true
  /** See ObservedAction. */
  readonly isExpiredAuthorization?: true
  readonly isReleasedAuthorization?: true
  readonly details?: KnownDetails
}

export type Aspect = 'cancellation' | 'pause'

/** A part of a subscription's history that is one record. */
export type SubscriptionSection = CancellationSection | OtherSection

interface SectionPlace {
  /** Identity of the subscription row. */
  readonly row: string
  /**
   * A time within this part of the history. It never changes, so an older snapshot that arrives late does not rename
   * the record.
   */
  readonly anchor: number
}

export interface CancellationSection extends SectionPlace {
  readonly aspect: 'cancellation'
  readonly part: 'episode'
  /** Why the subscription ends. */
  readonly cause: EndCause
  /** The earliest possible time of the request; null if the provider says when the request was made. */
  readonly askedFrom: number | null
  /**
   * True if the baseline showed the cancellation, and nothing shows that it was requested after the connection was
   * made.
   */
  readonly wasSetBefore: boolean
}

/** episode: a cancellation or pause that is scheduled or in effect. gap: the time after one. */
export interface OtherSection extends SectionPlace {
  readonly aspect: Aspect
  readonly part: 'episode' | 'gap'
  readonly cause: null
  readonly askedFrom: null
  readonly wasSetBefore: false
}

/** The fields of a record that has not been judged yet. */
export const UNJUDGED = {
  look: null,
  verdict: 'pending',
  reason: 'awaiting_second_look',
  operationId: null,
  expectedChangeId: null,
  readBack: null,
  quietFor: [],
  differences: [],
  incidents: [],
  timeline: [],
  changedIn: 0,
} as const satisfies Pending & Partial<RecordBase>

/** The open or acknowledged incident; undefined if there is none. */
export function openIncident(record: ActionRecord, code?: IncidentRecord['code']): IncidentRecord | undefined {
  return record.incidents.find(
    incident => incident.state !== 'resolved' && (code === undefined || incident.code === code),
  )
}

/** The result of the last finished look; undefined if none was finished. */
export function lastResultOf(look: Look | null): LookResult | undefined {
  if (look === null) return undefined
  if (look.doneAt === null) return look.earlier
  const { doneAt, connections } = look
  return connections === undefined ? undefined : { doneAt, connections }
}

/** True if a record needs an explanation. Other records are only listed. */
export function needsVerdict(record: Pick<ActionRecord, 'kind'>): boolean {
  return record.kind === 'refund' || record.kind === 'cancellation'
}

/** True if only the totals of its charge show the refund. */
export function isProvisional(record: ActionRecord): record is ProvisionalRefund {
  return record.providerRef === null
}

/** The complete verdict of a record, to copy it to another record. */
export function judgementOf(record: ActionRecord): Complete<Judgement> {
  const { verdict, reason, operationId, expectedChangeId, look, quietFor, decideAgainAt = null } = record
  // The fields come from one record, so their combination is valid.
  return { verdict, reason, operationId, expectedChangeId, look, quietFor, decideAgainAt } as Complete<Judgement>
}

type Complete<T> = T extends Judgement ? Required<T> : never
