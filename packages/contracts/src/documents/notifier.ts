/** Documents of the notifier, their only writer. */
import type { ActionMode, OriginChannel } from '../actions/action-details.ts'
import type { StormBurst } from '../actions/storm.ts'
import type { ObjectState } from '../actions/verdict.ts'
import type { DeadLetterKind } from '../http/dead-letter.ts'
import type { Delivery } from '../http/delivery.ts'
import type { TimedOutboxEntry } from '../kafka/outbox-entry.ts'
import type { Alert } from '../messages/alert.ts'
import type { SuppressionReason } from '../messages/command.ts'
import type { ProviderKind, RecordKind } from '../providers.ts'

/** The health of a channel. A channel delivers if it is enabled and its failures have not disabled it. */
export interface ChannelHealthDocument {
  /** The id of the channel. */
  _id: string
  project_id: string
  disabled_at: Date | null
  /** The cause and the remedy, for people to read. */
  disabled_reason: string | null
  /** The incident to resolve when the channel delivers again. */
  disabled_incident_id?: string | null
  last_success_at: Date | null
  last_failure_at: Date | null
  last_error: string | null
  /** The first failure since the last success; null after a success. After five days of only failures, the channel is disabled. */
  failing_since?: Date | null
  /** The first attempt since the last success that delivered nothing, whoever caused it; null after a success. */
  undelivered_since?: Date | null
  /** Set while every mail address of the channel is suppressed. */
  unreached?: ChannelUnreached
  /** The open incident about a channel that delivers nothing. */
  failing_incident_id?: string | null
  /** The latest pause of the channel. Absent means that no attempt has failed since the last success, or too few. */
  held?: ChannelHold
  /** Attempts by day (`YYYY-MM-DD`, UTC) of the last 7 days, for the success rate. */
  days?: Record<string, { delivered: number; failed: number }>
  /** Unpublished commands of this document. */
  outbox?: TimedOutboxEntry[]
}

/** A mail channel that reaches nobody. */
export interface ChannelUnreached {
  since: Date
  /** Counts the suppressed addresses by cause, without naming them. */
  reason: string
}

/** A pause of a channel: deliveries whose attempt is due wait until it ends. */
export interface ChannelHold {
  since: Date
  until: Date
  /** failing: attempts failed, one after the other. throttled: the receiver asked for a pause, or reported overload. */
  reason: 'failing' | 'throttled'
}

/** One attempt of a delivery. `error` has the cause and the remedy, `response` the first KiB of the receiver's answer. */
export interface DeliveryAttempt extends Omit<Delivery['attempts'][number], 'at'> {
  at: Date
}

/** A recipient of a mail delivery that gets no further attempt. */
export interface EndedAddress {
  /** The first 12 hex digits of the SHA-256 of the address in lower case. The Message-ID of its mail contains them too. */
  tag: string
  /** taken: the mail server accepted the mail. refused: the mail server rejected it permanently. */
  end: 'taken' | 'refused'
  /** The number of the last attempt for this recipient. */
  attempt: number
}

/** The delivery of one alert to one channel. */
export interface DeliveryDocument
  extends Pick<Delivery, 'project_id' | 'channel_id' | 'channel_kind' | 'alert_id' | 'test' | 'state' | 'reason'> {
  _id: string
  event: Alert['event']
  attempts: DeliveryAttempt[]
  /** The next attempt and its due time; null if none is planned. */
  next_attempt: { attempt: number; due_at: Date; topic: string } | null
  /** The delivery that superseded this delivery, or the digest that contained it. Absent if it was sent separately. */
  told_by?: string
  /**
   * True if the delivery must not be part of a digest, because a receiver rejected the content of a digest that contained it. Absent
   * means false.
   */
  goes_alone?: boolean
  /**
   * Waiting deliveries with the same group are sent as one digest, however few they are. Set by a digest that must be repeated, so that
   * the repeat reports the same alerts. Absent means none.
   */
  digest_group?: string
  /** The last command or replay that requested an attempt. A repeat of it requests no second attempt. */
  requested_by?: string
  /** After a retry by a person: the attempt and the time at which the 72 hours of retries start again. Absent means from attempt 1. */
  ladder_from?: { attempt: number; at: Date }
  /**
   * Mail channels: recipients that get no further attempt. A recipient is listed once, or once per round of retries if it was refused.
   * Absent means none.
   */
  ended_addresses?: EndedAddress[]
  alert: Alert
  created_at: Date
  updated_at: Date
}

/** A dead-lettered message that belongs to no recorded delivery. */
export interface DeadLetterDocument {
  /** Derived from the message's original topic, partition and offset. For an object of a provider's answer, its id in the inbox. */
  _id: string
  kind: DeadLetterKind
  /** The project in the message; null if the message cannot be read. */
  project_id: string | null
  /** The id of the operation or delivery of the message; null if it has none. */
  resource_id: string | null
  /** The original topic, to which a replay sends the message. */
  topic: string
  key: string
  /** The original value in base64; null for a tombstone. */
  value: string | null
  /** The original headers and the original position, without the reason of the dead letter. */
  headers: Record<string, string>
  /** A code of a closed list. */
  reason_code: string
  /** The reason, for people to read. */
  reason: string
  /** When the message was last dead-lettered. */
  parked_at: Date
  /** When the message was sent again or dismissed. Absent if it was not, or if it was dead-lettered again. */
  replayed_at?: Date
}

/** An address that gets no more mail from a project, or whose soft bounces are counted. */
export interface SuppressionDocument {
  /** `<project_id>/<address in lower case>` */
  _id: string
  project_id: string
  address: string
  /** Null if only soft bounces are counted; the address then still gets mail. */
  reason: SuppressionReason | null
  detail: string | null
  /** Times of soft bounces within the last seven days. */
  soft_bounces: Date[]
  suppressed_at: Date | null
  updated_at: Date
}

/** The erasure of a person in deliveries, under the id of the request. */
export interface DeliveryErasureDocument {
  _id: string
  project_id: string
  /** The number of erased deliveries. */
  deliveries: number
  /** Null until the last command of the erasure was carried out. */
  finished_at: Date | null
}

/** An action whose customer was erased, under its id. Messages about it that are in flight are sent and recorded without personal data. */
export interface ErasedActionDocument {
  _id: string
  project_id: string
  /** When the notifier was last commanded to erase it. */
  at: Date
}

/** A bulk replay and its progress. */
export interface ReplayDocument {
  /** The replay_id of the replay's command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  state: 'running' | 'done'
  /** Dead and retrying deliveries in the window when the replay started. */
  total: number
  requeued: number
  requested_at: Date
  /** The last delivery that was sent again. The replay continues after it when the process restarts. */
  cursor: { created_at: Date; delivery_id: string } | null
  /** When the next page is due. A sender moves this time forward before it sends, so that no two senders send the same page. */
  next_page_at: Date
  finished_at: Date | null
}

/** One incident of an unexplained action. Many of one connection within a short time are a storm. */
export interface StormMemberDocument {
  /** The id of the incident. */
  _id: string
  project_id: string
  /** The scope of its storm (stormScopeOf): the connection, or one or many of its connected accounts. */
  connection_id: string
  /** The connected account. Absent for the connection's own account. */
  account?: string
  action_id: string
  provider: ProviderKind
  kind: RecordKind
  /** When the incident was opened. */
  opened_at: Date
  /** The storm to which the action belongs; null if it belongs to none. */
  storm_id: string | null
  /** True if channels for people got a message about this action alone: it was recorded before its storm began. */
  alone: boolean
  amount: number | null
  currency: string | null
  /** The state of the action in its last alert. */
  state: ObjectState
  subject: string
  /** The facts that may be common to a storm. They are no personal data, so nothing has to be erased here. */
  facts: {
    channel: OriginChannel | null
    key_name: string | null
    /** Reveals no address. Absent in members of earlier versions. */
    actor_id?: string | null
    /** Stands for the user, who is often named by an e-mail address. */
    user_fingerprint: string | null
    mode: ActionMode
    /** A fingerprint if the id contains an e-mail address. */
    customer_id: string | null
    refund_reason: string | null
  }
  recorded_at: Date
  /** When a person acknowledged the incident; null if nobody did since it was opened. */
  acknowledged_at: Date | null
  /** Null while the incident is open. */
  resolved_at: Date | null
  /** True if an operation or an expected change explained the action. */
  explained: boolean
}

/** Many unexplained actions of one connection, or of one of its connected accounts, within a short time. */
export interface StormDocument {
  _id: string
  project_id: string
  /** The scope of the storm (stormScopeOf). */
  connection_id: string
  provider: ProviderKind
  state: 'open' | 'ended'
  began_at: Date
  /** When the last member was recorded. */
  last_member_at: Date
  /** Increased with each batch of members, so that a storm does not end while a member joins it. */
  version: number
  /** The number of the last report, its time and what it covered. 0 and null before the first report. */
  report: number
  reported_at: Date | null
  reported_version: number
  /** Number of incidents, i.e. of members. */
  reported_incidents: number
  /** Number of actions whose incidents were all resolved. */
  reported_resolved: number
  /** Number of actions with an open incident that nobody acknowledged; null before the first report. */
  reported_unacknowledged: number | null
  /** Increased with each batch of incidents that people acknowledge, so that no report misses one. */
  acknowledgements: number
  /** The value of `acknowledgements` at the last look. */
  seen_acknowledgements: number
  /**
   * When to look at the storm again, for a report or for its end. After the end absent, until an incident of the storm is acknowledged or
   * resolved.
   */
  next_look_at?: Date
  ended_at: Date | null
  /** The bursts that continue in this storm. Absent if there is none. */
  bursts?: StormBurst[]
  /** When the first report is due, if a burst began the storm: with the second looks of its actions. Absent means at once. */
  reports_from?: Date
  /** Unpublished reports. */
  outbox?: TimedOutboxEntry[]
}
