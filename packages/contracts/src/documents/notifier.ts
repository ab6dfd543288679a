/** Documents of the notifier, their only writer. */
import type { ChannelKind } from '../channel-kind.ts'
import type { Alert, SuppressionReason } from '../messages/index.ts'
import type { TimedOutboxEntry } from '../outbox-entry.ts'

/** The health of a channel. A channel delivers if it is switched on and its failures have not disabled it. */
export interface ChannelHealthDocument {
  /** The channel's id. */
  _id: string
  project_id: string
  disabled_at: Date | null
  /** For people: the cause and the remedy. */
  disabled_reason: string | null
  /** The incident to resolve when the channel delivers again. */
  disabled_incident_id?: string | null
  last_success_at: Date | null
  last_failure_at: Date | null
  last_error: string | null
  /** The first failure since the last success; null after a success. Five days of failures disable the channel. */
  failing_since?: Date | null
  /** Attempts by day (`YYYY-MM-DD`, UTC) of the last 7 days, for the success rate. */
  days?: Record<string, { delivered: number; failed: number }>
  /** Unpublished commands of this document. */
  outbox?: TimedOutboxEntry[]
}

/** One attempt of a delivery. */
export interface DeliveryAttempt {
  attempt: number
  at: Date
  duration_ms: number
  outcome: 'delivered' | 'failed'
  /** HTTP status or SMTP reply code; null without an answer. */
  status: number | null
  /** For people: the cause and the remedy; null when delivered. */
  error: string | null
  /** The first KiB of the receiver's answer. */
  response: string | null
}

/** An address of a mail channel for which a delivery has ended: it gets no further attempt. */
export interface EndedAddress {
  /** The first 12 hex digits of the SHA-256 of the address in lower case; its mail's Message-ID carries them too. */
  tag: string
  /** refused: permanently, by the mail server. */
  end: 'taken' | 'refused'
  /** The attempt that ended it. */
  attempt: number
}

/** The delivery of one alert to one channel. */
export interface DeliveryDocument {
  _id: string
  project_id: string
  channel_id: string
  channel_kind: ChannelKind
  alert_id: string
  event: Alert['event']
  test: boolean
  /** superseded: not sent, because a later message about the same incident says it too. */
  state: 'pending' | 'delivered' | 'retrying' | 'dead' | 'superseded'
  /** For people: why it ended, or what comes next. */
  reason: string
  attempts: DeliveryAttempt[]
  /** The next attempt and its due time; null: none. */
  next_attempt: { attempt: number; due_at: Date; topic: string } | null
  /** The delivery that superseded it, or the digest that it was part of. Absent: it was sent by itself. */
  told_by?: string
  /** Whether it is kept out of digests, because a receiver rejected the content of one that it was in. Absent: no. */
  goes_alone?: boolean
  /** The last command or replay that requested an attempt: a repeat of it requests no other one. */
  requested_by?: string
  /** After a retry by a person: the attempt and time at which the 72 hours of retries start again. Absent: attempt 1. */
  ladder_from?: { attempt: number; at: Date }
  /** Mail channels: addresses that get no further attempt: once each, if refused once per round of retries. Absent: none. */
  ended_addresses?: EndedAddress[]
  alert: Alert
  created_at: Date
  updated_at: Date
}

/** A dead-lettered message that belongs to no recorded delivery. */
export interface DeadLetterDocument {
  /** Derived from the message's original topic, partition and offset. */
  _id: string
  /** The original topic: a replay sends it there. */
  topic: string
  key: string
  /** The original value in base64; null for a tombstone. */
  value: string | null
  /** The original headers and the original position, without the reason of the dead letter. */
  headers: Record<string, string>
  /** One of a closed list. */
  reason_code: string
  /** For people. */
  reason: string
  /** When it was last dead-lettered. */
  parked_at: Date
}

/** An address that gets no more mail from a project, or whose soft bounces are counted. */
export interface SuppressionDocument {
  /** `<project_id>/<address in lower case>` */
  _id: string
  project_id: string
  address: string
  /** Null while only its soft bounces are counted: it still gets mail. */
  reason: SuppressionReason | null
  detail: string | null
  /** Times of soft bounces within the last seven days. */
  soft_bounces: Date[]
  suppressed_at: Date | null
  updated_at: Date
}

/** A bulk replay and its progress. */
export interface ReplayDocument {
  /** The replay_id of its command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  state: 'running' | 'done'
  /** Dead deliveries in the window when the replay started. */
  total: number
  requeued: number
  requested_at: Date
  /** Where it continues after a restart: the last delivery that was sent again. */
  cursor: { created_at: Date; delivery_id: string } | null
  /** When its next page is due. A sender moves this time on before it sends, so that no two send the same page. */
  next_page_at: Date
  finished_at: Date | null
}
