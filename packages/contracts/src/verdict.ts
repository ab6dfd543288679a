import { z } from 'zod'
import { Currency, Timestamp } from './operation.ts'
import { OutOfBand, ProviderKind, RecordKind } from './providers.ts'

/** What is known of an action so far. `pending`: its second look is still to come. */
export const Verdict = z.enum(['pending', 'explained', 'unexplained', 'not_alerted'])
export type Verdict = z.infer<typeof Verdict>

/** Why an action has its verdict. The same word stands in the record, the log line and the metric. */
export const VerdictReason = z.enum([
  /** pending: nothing explained it at first sight. */
  'awaiting_second_look',
  /** explained, strongest first. */
  'provider_ref_matches',
  'idempotency_key_matches',
  'credit_note_matches',
  'amount_and_time_match',
  'made_before_connection',
  /** The cancellation was set already when the connection was made, as its baseline showed. */
  'scheduled_before',
  /** An operator's expiring note said that it would come. */
  'expected_change_matches',
  /** unexplained, and alerted. */
  'nothing_explains_it',
  /** not_alerted. */
  'out_of_band_ignore',
  'auto_before_first_operation',
  'connection_deleted',
  /** Ended by the provider itself, e.g. after its last try to collect. */
  'involuntary_end',
  /** The plan had an end, and it came. */
  'plan_ended',
  /** The provider ended a subscription because its trial, or its term, came to its end and there was nothing to charge. */
  'no_payment_method',
  /** The provider ended a subscription because its payment was disputed. */
  'payment_disputed',
  /** The provider ended a subscription by its rule for old data. */
  'retention_policy',
  /** Its first payment never came: the subscription did not begin. */
  'never_began',
  /** The provider may not, or cannot, bill the subscription: fraud review, compliance, tax, currency. */
  'not_billable',
  /** An authorization expired uncaptured: the processor calls it a refund, and no money moved. */
  'authorization_expired',
  /** A pause, a dispute, a credit …: recorded as what it is. */
  'kind_is_not_judged',
  /** not_alerted: alerted while the provider could not be asked. Read later, the provider does not know it. */
  'provider_denies_it',
])
export type VerdictReason = z.infer<typeof VerdictReason>

/** The state of the provider's object, folded to one vocabulary and ordered by rank where no version exists. */
export const ObjectState = z.enum([
  'pending',
  'requires_action',
  /** A cancellation or pause that is set for later. */
  'scheduled',
  'succeeded',
  'failed',
  'canceled',
  /** The reseller's review refused it: no money moved. */
  'rejected',
  /** Taken back later by an object of its own. */
  'reversed',
])
export type ObjectState = z.infer<typeof ObjectState>

/** One line of the story of an action: event → verdict → incident → alert, linked by ids. */
export const TimelineEntry = z.object({
  at: Timestamp,
  what: z.enum([
    'event_received',
    'explained',
    'explanation_lost',
    'second_look',
    'incident_opened',
    'incident_resolved',
    'alert_sent',
    'read_back',
    'drift_detected',
    'settled',
  ]),
  /** The id that the line is about: event, operation, incident or alert. */
  id: z.string().nullable(),
  /** One sentence for a person. */
  text: z.string(),
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
  /** It would fit, and explains another action better. */
  'explains_another',
  /** It would fit, and the operation that explains the action fits better. */
  'other_operation_fits_better',
  /** It agrees with an alerted action by amount and time, and its own refund or cancellation may still arrive. */
  'awaits_its_own',
])
export type CandidateFailure = z.infer<typeof CandidateFailure>

/** How a verdict came about, for whoever asks: the rule that held, and the operations that did not fit. */
export const Why = z.object({
  /** One sentence for a person. */
  rule: z.string(),
  candidates: z.array(z.object({ operation_id: z.string(), failure: CandidateFailure, text: z.string() })),
  /**
   * What the provider answered at the second look, or to a later question where it did not answer in time: null before the
   * second look, or where there is no read key.
   */
  read_back: z.enum(['confirmed', 'not_found', 'unavailable']).nullable(),
})
export type Why = z.infer<typeof Why>

/** One way in which the provider's data differs from what an operation said. */
export const Difference = z.object({
  field: z.enum(['amount', 'currency', 'subject', 'state', 'existence']),
  operation_says: z.string(),
  provider_says: z.string(),
})
export type Difference = z.infer<typeof Difference>

/** One refund or cancellation at a provider, with its verdict. Projected from its subject by the reconciler. */
export const Action = z.object({
  action_id: z.string(),
  project_id: z.string(),
  /** The connection that showed it first; all that showed it are in `connection_ids`. */
  connection_id: z.string(),
  connection_ids: z.array(z.string()),
  provider: ProviderKind,
  kind: RecordKind,
  /** Payment or subscription id at the provider. */
  subject: z.string(),
  /** The provider's id of the refund; null for a provisional action known only from its charge. */
  provider_ref: z.string().nullable(),
  /** Minor units. */
  amount: z.int().nullable(),
  currency: Currency.nullable(),
  state: ObjectState,
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
  timeline: z.array(TimelineEntry),
  /** The version of the subject it was projected from: an older projection never replaces a newer one. */
  version: z.int(),
})
export type Action = z.infer<typeof Action>

/** Why an incident is open. UNEXPECTED_ACTION is the interface's; the others are ours (DESIGN). */
export const IncidentCode = z.enum([
  'UNEXPECTED_ACTION',
  'CHANNEL_DISABLED',
  /** The reseller's review refused a refund that an operation made. */
  'REFUND_REJECTED',
  /** A connection's hints could not be verified for 15 minutes. */
  'VERIFICATION_UNAVAILABLE',
  /** The provider has events that never reached us. */
  'FEED_SILENT',
])
export type IncidentCode = z.infer<typeof IncidentCode>

export const IncidentState = z.enum(['open', 'acknowledged', 'resolved'])
export type IncidentState = z.infer<typeof IncidentState>

export const Incident = z.object({
  incident_id: z.string(),
  project_id: z.string(),
  /** Null for an incident that is not about a connection. */
  connection_id: z.string().nullable(),
  code: IncidentCode,
  state: IncidentState,
  /** One sentence for a person: what happened and why it matters. */
  summary: z.string(),
  /** Null for an incident that is not about an action. */
  action_id: z.string().nullable(),
  /** CHANNEL_DISABLED: the channel. */
  channel_id: z.string().nullable().optional(),
  /** The setting that allowed the alert, as it stood at the second look. */
  out_of_band: OutOfBand.nullable(),
  opened_at: Timestamp,
  resolved_at: Timestamp.nullable(),
  /** The operation whose late arrival resolved it. */
  resolved_by: z.string().nullable(),
  version: z.int(),
})
export type Incident = z.infer<typeof Incident>
