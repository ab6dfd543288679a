import { z } from 'zod'
import { OutOfBand, ProviderKind, RecordKind } from '../providers.ts'
import { actionDetails } from './action-details.ts'
import { Burst } from './burst.ts'
import { Actor, IncidentReason } from './life-cycle.ts'
import { Currency, Timestamp } from './operation.ts'

/** The verdict on an action. pending: its second look is not done yet. not_alerted: unexplained, but for a reason that needs no alert. */
export const Verdict = z.enum(['pending', 'explained', 'unexplained', 'not_alerted'])
export type Verdict = z.infer<typeof Verdict>

/** Why an action has its verdict. The record, the log and the metric use the same word. */
export const VerdictReason = z.enum([
  /** Reason for pending: nothing explained the action at first sight. */
  'awaiting_second_look',
  /** Reasons for explained, the strongest evidence first. */
  'provider_ref_matches',
  'request_id_matches',
  'idempotency_key_matches',
  'credit_note_matches',
  'amount_and_time_match',
  'made_before_connection',
  /** The cancellation was scheduled before the connection was created, as its baseline showed. */
  'scheduled_before',
  /** An expected change covers the action. */
  'expected_change_matches',
  /** Reason for unexplained: the action is alerted. */
  'nothing_explains_it',
  /** Reasons for not_alerted. */
  'out_of_band_ignore',
  'auto_before_first_operation',
  'connection_deleted',
  /** The provider ended the subscription, e.g. after its last attempt to collect a payment. */
  'involuntary_end',
  /** The plan of the subscription reached its end. */
  'plan_ended',
  /** The provider ended a subscription at the end of its trial or term, because there was no payment method. */
  'no_payment_method',
  /** The provider ended a subscription because its payment was disputed. */
  'payment_disputed',
  /** The provider ended a subscription by its retention rule for old data. */
  'retention_policy',
  /** The first payment failed, so the subscription never started. */
  'never_began',
  /** The provider cannot bill the subscription, because of fraud review, compliance, tax or currency. */
  'not_billable',
  /** An authorization expired uncaptured. The processor calls it a refund, although no money moved. */
  'authorization_expired',
  /** A pause, dispute, credit or another kind of record that gets no verdict. */
  'kind_is_not_judged',
  /** The action was alerted while the provider was unavailable, but the provider does not have it. */
  'provider_denies_it',
])
export type VerdictReason = z.infer<typeof VerdictReason>

/** The state of a provider's object, in the same words for all providers. */
export const ObjectState = z.enum([
  'pending',
  'requires_action',
  /** A cancellation or pause that takes effect later. */
  'scheduled',
  'succeeded',
  'failed',
  'canceled',
  /** The reseller's review rejected the refund, so no money moved. */
  'rejected',
  /** Another object undid it later. */
  'reversed',
])
export type ObjectState = z.infer<typeof ObjectState>

const MOVED_NO_MONEY: ReadonlySet<ObjectState> = new Set(['failed', 'canceled', 'rejected', 'reversed'])

/** True if an action in this state moved no money in the end. Sums do not include its amount. */
export function movedNoMoney(state: ObjectState): boolean {
  return MOVED_NO_MONEY.has(state)
}

/** One entry of an action's timeline: event, verdict, incident or alert. */
export const TimelineEntry = z.object({
  at: Timestamp,
  what: z.enum([
    'event_received',
    'explained',
    'explanation_lost',
    'second_look',
    'incident_opened',
    'incident_acknowledged',
    'incident_assigned',
    'incident_commented',
    'incident_resolved',
    'incident_reopened',
    'alert_sent',
    'read_back',
    'drift_detected',
    'settled',
  ]),
  /** The id of the event, operation, incident or alert; null if the entry has none. */
  id: z.string().nullable(),
  /** One sentence for people to read. */
  text: z.string(),
  /** Who made the change. Absent if Backstop or the provider made it. */
  by: Actor.optional(),
})
export type TimelineEntry = z.infer<typeof TimelineEntry>

/** Why one operation does not explain an action. */
export const CandidateFailure = z.enum([
  'operation_did_not_act',
  'operation_skipped_approval',
  'other_kind',
  'other_provider_ref',
  'other_subject',
  'other_amount',
  'outside_time_window',
  /** The operation fits, but explains another action better. */
  'explains_another',
  /** The operation fits, but the operation that explains the action fits better. */
  'other_operation_fits_better',
  /** The operation matches an alerted action only by amount and time, and its own refund or cancellation may still arrive. */
  'awaits_its_own',
])
export type CandidateFailure = z.infer<typeof CandidateFailure>

/** An operation that does not explain an action, with the reason as one sentence for people to read. */
const Candidate = z.object({ operation_id: z.string(), failure: CandidateFailure, text: z.string() })

/** Why an action has its verdict: the rule that applied, and the operations that do not explain the action. */
export const Why = z.object({
  /** One sentence for people to read. */
  rule: z.string(),
  candidates: z.array(Candidate),
  /** The candidate that contradicts an unexplained action in the fewest facts. `text` states all of them. */
  closest: Candidate.extend({
    /** What the software reported, and when. Absent in older records. */
    reported: z.object({ amount: z.int().nullable(), currency: Currency.nullable(), at: Timestamp }).optional(),
  }).optional(),
  /** The provider's answer at the second look, or a later answer. Null before the second look, or if there is no read key. */
  read_back: z.enum(['confirmed', 'not_found', 'unavailable']).nullable(),
})
export type Why = z.infer<typeof Why>

/** One contradiction between the provider's data and an operation. */
export const Difference = z.object({
  field: z.enum(['amount', 'currency', 'subject', 'state', 'existence']),
  operation_says: z.string(),
  provider_says: z.string(),
})
export type Difference = z.infer<typeof Difference>

/** One refund or cancellation at a provider, with its verdict. The reconciler projects it from its case. */
export const Action = z.object({
  action_id: z.string(),
  project_id: z.string(),
  /** The first connection that showed the action; `connection_ids` has all of them. */
  connection_id: z.string(),
  connection_ids: z.array(z.string()),
  provider: ProviderKind,
  kind: RecordKind,
  /** The payment or subscription id at the provider. */
  subject: z.string(),
  /** The provider's id of the refund. Null for a provisional action, which is known only from its charge. */
  provider_ref: z.string().nullable(),
  /** Minor units. */
  amount: z.int().nullable(),
  currency: Currency.nullable(),
  state: ObjectState,
  /** True if the refund released an authorization that was never captured. Then its state is `canceled`, because no money moved. */
  authorization_released: z.literal(true).optional(),
  /**
   * Of a cancellation that was taken back or replaced: true if the subscription continues, false if another cancellation
   * followed. Absent otherwise.
   */
  subscription_continues: z.boolean().optional(),
  provider_created_at: Timestamp,
  first_seen_at: Timestamp,
  second_look_at: Timestamp.nullable(),
  verdict: Verdict,
  reason: VerdictReason,
  operation_id: z.string().nullable(),
  why: Why.optional(),
  differences: z.array(Difference).optional(),
  incident_id: z.string().nullable(),
  event_ids: z.array(z.string()),
  ...actionDetails,
  timeline: z.array(TimelineEntry),
  /** The version of the case that the action was projected from, so that an older projection never replaces a newer one. */
  version: z.int(),
})
export type Action = z.infer<typeof Action>

/** Why an incident was opened. */
export const IncidentCode = z.enum([
  /** Nothing explains an action. */
  'UNEXPECTED_ACTION',
  /** The failures of an alert channel disabled it. */
  'CHANNEL_DISABLED',
  /** An alert channel has delivered nothing for 15 minutes, or all of its mail addresses are suppressed. */
  'CHANNEL_FAILING',
  /** The reseller's review rejected a refund that an operation made. */
  'REFUND_REJECTED',
  /** Operations refunded a payment twice, with the same amount (Incident.refunded_twice). */
  'REFUNDED_TWICE',
  /** Unusually many actions of a connection that nothing explains so far (Incident.burst). Their second looks are not done yet. */
  'UNEXPLAINED_BURST',
  /** An action of a canary, an actor that is kept only as a trap. Only a person resolves it. */
  'CANARY_USED',
  /** A connection's hints could not be verified for 15 minutes. */
  'VERIFICATION_UNAVAILABLE',
  /** The provider lists events that did not arrive. */
  'FEED_SILENT',
  /** An API key expires soon. */
  'KEY_EXPIRING',
  /** Somebody created an admin key with access to the database (`backstop keys recover`). */
  'KEY_RECOVERED',
])
export type IncidentCode = z.infer<typeof IncidentCode>

/** The state of an incident. */
export const IncidentState = z.enum(['open', 'acknowledged', 'resolved'])
export type IncidentState = z.infer<typeof IncidentState>

/** Which operation repeated a refund, and the refund that it repeats. */
export const RefundedTwice = z.object({
  /** The operation that explains the action of the incident, which is the second refund. */
  operation_id: z.string(),
  /** The refund before it, with the operation that explains it. */
  earlier: z.object({
    action_id: z.string(),
    provider_ref: z.string(),
    operation_id: z.string(),
    provider_created_at: Timestamp,
  }),
})
export type RefundedTwice = z.infer<typeof RefundedTwice>

/** A problem that people should look at, from its opening to its end. */
export const Incident = z.object({
  incident_id: z.string(),
  project_id: z.string(),
  /** Null if the incident is not about a connection. */
  connection_id: z.string().nullable(),
  code: IncidentCode,
  state: IncidentState,
  /** What happened and why it matters, in one sentence for people to read. */
  summary: z.string(),
  /** Null if the incident is not about an action. */
  action_id: z.string().nullable(),
  /** Who made the action (Action.actor_id). Absent if the provider does not say. */
  actor_id: z.string().optional(),
  /** The channel, for CHANNEL_DISABLED and CHANNEL_FAILING. */
  channel_id: z.string().nullable().optional(),
  /** The API key, for KEY_EXPIRING and KEY_RECOVERED. */
  key_id: z.string().nullable().optional(),
  /** Only of REFUNDED_TWICE. */
  refunded_twice: RefundedTwice.optional(),
  /** Only of UNEXPLAINED_BURST. */
  burst: Burst.optional(),
  /** The value of the setting that allowed the alert: at the second look, or for REFUNDED_TWICE at the last notification. */
  out_of_band: OutOfBand.nullable(),
  opened_at: Timestamp,
  /** When the provider made the action; absent if the incident is not about an action. */
  provider_created_at: Timestamp.optional(),
  /** When and by whom it was acknowledged; null if it was not. */
  acknowledged_at: Timestamp.nullable().optional(),
  acknowledged_by: z.string().nullable().optional(),
  /** The person or team that works on it. */
  assignee: z.string().nullable().optional(),
  resolved_at: Timestamp.nullable(),
  /** The operation that explained the action, or the name of the person or API key that resolved the incident. */
  resolved_by: z.string().nullable(),
  /** How it ended, in one sentence for people to read. */
  resolution: z.string().nullable().optional(),
  /** Why a person resolved it, and what the person noted. Null if it is not resolved, or ended by itself. */
  reason: IncidentReason.nullable().optional(),
  note: z.string().nullable().optional(),
  /** How often it was opened again. */
  reopened: z.int().min(0).optional(),
  /** The storm that it belongs to; null or absent if there is none. Of UNEXPLAINED_BURST: the storm in which its actions continue. */
  storm_id: z.string().nullable().optional(),
  version: z.int(),
})
export type Incident = z.infer<typeof Incident>
