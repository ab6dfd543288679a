import type {
  Currency,
  Difference,
  ObjectState,
  OutOfBand,
  ProviderKind,
  TimelineEntry,
  VerdictReason,
  Why,
} from '@backstop/contracts'
import type { CameBack, EndCause } from '@backstop/providers'
import type { z } from 'zod'

/**
 * One refund or cancellation, or another thing that is recorded, with everything known about it. What its fields may hold
 * depends on what it is known from, and on its verdict.
 */
export type ActionRecord = ObjectRecord | ProvisionalRefund | TurnRecord

export type ObjectRecord = RecordBase & ObjectFacts & Judgement
export type ProvisionalRefund = RecordBase & ProvisionalFacts & Judgement
export type TurnRecord = RecordBase & TurnFacts & Judgement

interface RecordBase {
  readonly id: string
  /** The same for every event about it. A provisional refund takes the identity of the refund that it turns out to be. */
  readonly identity: string
  readonly provider: ProviderKind
  readonly seenThrough: readonly SeenThrough[]
  readonly subject: string
  /** Ids by which an operation may name its payment or subscription. */
  readonly objectIds: readonly string[]
  readonly state: ObjectState
  readonly providerCreatedAt: number
  readonly idempotencyKeys: readonly string[]
  readonly eventIds: readonly string[]
  readonly firstSeenAt: number
  /** The provider's answer at the second look, or to a later question; null where it was not asked. */
  readonly readBack: Why['read_back']
  readonly differences: readonly Difference[]
  readonly incidents: readonly IncidentRecord[]
  readonly timeline: readonly TimelineEntry[]
  /** The version of the case that last changed how it is listed (projection.ts). */
  readonly changedIn: number
}

/** Known from objects of providers. */
interface ObjectFacts {
  readonly kind: 'refund' | 'dispute' | 'credit' | 'reversal'
  /** What each provider's own object says. */
  readonly sides: readonly Side[]
  readonly turn: null
  readonly providerRef: string
  readonly amount: number | null
  readonly currency: z.infer<typeof Currency> | null
  readonly madeFrom?: null
}

/** A refund that only the totals of its charge prove. */
interface ProvisionalFacts {
  readonly kind: 'refund'
  readonly sides: readonly []
  readonly turn: null
  readonly providerRef: null
  readonly amount: number
  readonly currency: z.infer<typeof Currency>
  /** It was made between this time and `providerCreatedAt`. */
  readonly madeFrom: number
}

/** Derived from the snapshots of a subscription. */
interface TurnFacts {
  readonly kind: 'cancellation' | 'pause' | 'resume' | 'schedule_removal'
  readonly sides: readonly []
  readonly turn: Turn
  /** The id of the subscription. */
  readonly providerRef: string
  readonly amount: null
  readonly currency: null
  readonly madeFrom?: null
}

/** A verdict, with what it rests on. */
export type Judgement = Pending | Unexplained | ((ExplainedVerdict | OwnVerdict | QuietVerdict) & Final)

interface NoExplanation {
  readonly operationId: null
  readonly expectedChangeId: null
}

export interface Pending extends NoExplanation {
  readonly verdict: 'pending'
  readonly reason: 'awaiting_second_look'
  /** Null until it is judged for the first time. */
  readonly look: Look | null
  readonly quietFor: readonly []
  readonly decideAgainAt?: null
}

/** Strongest first. */
export type Match = Extract<
  VerdictReason,
  'provider_ref_matches' | 'idempotency_key_matches' | 'credit_note_matches' | 'amount_and_time_match'
>
/** Evidence in the provider's own data. */
export type Evidence = Extract<VerdictReason, 'made_before_connection' | 'scheduled_before'>

type Explanation =
  | { readonly reason: Match; readonly operationId: string; readonly expectedChangeId: null }
  | { readonly reason: 'expected_change_matches'; readonly operationId: null; readonly expectedChangeId: string }
  | ({ readonly reason: Evidence } & NoExplanation)

export type ExplainedVerdict = Explanation & { readonly verdict: 'explained'; readonly quietFor: readonly [] }

/** A verdict that no look has to confirm: it may come before the look, or after it. */
interface Final {
  readonly look: Look | null
  readonly decideAgainAt?: null
}

export interface Unexplained extends NoExplanation {
  readonly verdict: 'unexplained'
  readonly reason: 'nothing_explains_it'
  readonly look: DoneLook
  readonly quietFor: readonly []
  /**
   * Set where an operation matches it by amount and time only: when the operation's own refund can no longer arrive, so that
   * the operation may explain this one.
   */
  readonly decideAgainAt?: number | null
}

/** Why the settings of its connections keep an unexplained action from alerting. */
export type QuietReason = Extract<
  VerdictReason,
  'out_of_band_ignore' | 'auto_before_first_operation' | 'connection_deleted'
>
/** Why no person is asked to explain it. */
export type OwnReason = Exclude<
  VerdictReason,
  Pending['reason'] | Explanation['reason'] | Unexplained['reason'] | QuietReason
>

/** Nobody has to explain it. */
export interface OwnVerdict extends NoExplanation {
  readonly verdict: 'not_alerted'
  readonly reason: OwnReason
  readonly quietFor: readonly []
}

/** Nothing explains it, and its connections do not alert. */
interface QuietVerdict extends NoExplanation {
  readonly verdict: 'not_alerted'
  readonly reason: QuietReason
  /** The connections whose settings were asked. A connection that shows it later is asked as well. */
  readonly quietFor: readonly string[]
}

/** A connection that an action was seen through. */
export interface SeenThrough {
  readonly id: string
  /** When the connection was made. The connection explains what the provider made before. */
  readonly createdAt: number
}

/** A look that is due at an absolute time, so that a restart neither shortens nor resets it. */
export type Look = OpenLook | DoneLook

interface OpenLook {
  readonly dueAt: number
  /** When the provider was last asked, or was due to be asked; null before. */
  readonly askedAt: number | null
  readonly doneAt: null
  readonly lateReading?: never
}

export interface DoneLook {
  readonly dueAt: number
  readonly askedAt: number | null
  readonly doneAt: number
  /** Set where people were alerted although the provider had not answered. */
  readonly lateReading?: LateReading
}

/** The questions to the provider that follow an alert without its answer. */
export type LateReading =
  | { readonly tries: number; readonly nextAt: number; readonly outcome: null }
  /** The provider answered, or never did. */
  | { readonly tries: number; readonly nextAt: null; readonly outcome: 'confirmed' | 'not_found' | null }

/** One object of one provider. A refund that a biller makes through its gateway is an object of both. */
export interface Side {
  readonly identity: string
  readonly provider: ProviderKind
  readonly providerRef: string
  /** Ids that the same refund has at another provider. */
  readonly gatewayRefs: readonly string[]
  /** Credit notes that it pays out. */
  readonly creditNoteIds?: readonly string[]
  readonly subject: string
  readonly objectIds: readonly string[]
  readonly amount: number | null
  readonly currency: string | null
  readonly state: ObjectState
  readonly stateVersion: number | null
  readonly createdAt: number
  /** Absent where its money did not come back, or nothing says when. */
  readonly cameBack?: CameBack
  /** The request that made it, and its key; absent where the object's own events do not say. */
  readonly requestId?: string
  readonly idempotencyKey?: string
  /** The bank took the payment back, which the object itself says; what knows it only by name may take it for a refund. */
  readonly isDispute?: true
  /** See ObservedAction. */
  readonly isExpiredAuthorization?: true
}

export type Aspect = 'cancellation' | 'pause'

/** A stretch of a subscription's row that is one record. */
export type Turn = CancellationTurn | OtherTurn

interface TurnPlace {
  /** The identity of the row. */
  readonly row: string
  /** A moment within the stretch. It never changes: an older snapshot that comes late renames nothing. */
  readonly anchor: number
}

export interface CancellationTurn extends TurnPlace {
  readonly aspect: 'cancellation'
  readonly part: 'episode'
  /** Why the subscription ends. */
  readonly cause: EndCause
  /** The earliest time at which it may have been requested; null where the provider says when it was. */
  readonly askedFrom: number | null
  /** The baseline showed it as set, and nothing shows that it was set after the connection was made. */
  readonly wasSetBefore: boolean
}

/** episode: set or in effect. gap: what followed one. */
export interface OtherTurn extends TurnPlace {
  readonly aspect: Aspect
  readonly part: 'episode' | 'gap'
  readonly cause: null
  readonly askedFrom: null
  readonly wasSetBefore: false
}

export type IncidentRecord = IncidentSubject & IncidentProgress

interface IncidentBase {
  readonly id: string
  readonly connectionId: string
  readonly openedAt: number
}

/** What allows an incident: a setting, or nothing forbids it. */
type IncidentSubject = IncidentBase &
  (
    | { readonly code: 'UNEXPECTED_ACTION'; readonly outOfBand: OutOfBand }
    | { readonly code: 'REFUND_REJECTED'; readonly outOfBand: null }
  )

type IncidentProgress =
  | {
      readonly state: 'open' | 'acknowledged'
      readonly resolvedAt: null
      readonly resolvedBy: null
      readonly resolution: null
    }
  | {
      readonly state: 'resolved'
      readonly resolvedAt: number
      /** The operation that resolved it; null where something else did. */
      readonly resolvedBy: string | null
      /** How it ended, for a person. */
      readonly resolution: string
    }

/** A record before it was judged for the first time. */
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

/** The incident that is not resolved; undefined where none is. */
export function openIncident(record: ActionRecord, code?: IncidentRecord['code']): IncidentRecord | undefined {
  return record.incidents.find(
    incident => incident.state !== 'resolved' && (code === undefined || incident.code === code),
  )
}

/** Whether a record is an action to be explained; everything else is recorded as what it is. */
export function isJudged(record: Pick<ActionRecord, 'kind'>): boolean {
  return record.kind === 'refund' || record.kind === 'cancellation'
}

/** Whether only the totals of its charge prove it. */
export function isProvisional(record: ActionRecord): record is ProvisionalRefund {
  return record.providerRef === null
}

/** The verdict of a record, whole, so that another record can take it. */
export function judgementOf(record: ActionRecord): Whole<Judgement> {
  const { verdict, reason, operationId, expectedChangeId, look, quietFor, decideAgainAt = null } = record
  // The fields of one record belong together.
  return { verdict, reason, operationId, expectedChangeId, look, quietFor, decideAgainAt } as Whole<Judgement>
}

type Whole<T> = T extends Judgement ? Required<T> : never
