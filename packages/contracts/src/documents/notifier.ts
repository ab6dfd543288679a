/** Documents of the notifier: nobody else writes them. */
import type { ChannelKind } from '../channel-kind.ts'
import type { Alert, SuppressionReason } from '../messages/index.ts'
import type { TimedOutboxEntry } from '../outbox-entry.ts'

/** A channel works when it is enabled and its health has not disabled it. */
export interface ChannelHealthDocument {
  /** The channel's id. */
  _id: string
  project_id: string
  disabled_at: Date | null
  /** In words a person can act on. */
  disabled_reason: string | null
  /** The incident that told of it, to resolve it when the channel works again. */
  disabled_incident_id?: string | null
  last_success_at: Date | null
  last_failure_at: Date | null
  last_error: string | null
  /** Since when attempts have done nothing but fail; null after a success. Five days of it disable the channel. */
  failing_since?: Date | null
  /** Attempts by day (`YYYY-MM-DD`, UTC), the last 7 days only: what the success rate is computed from. */
  days?: Record<string, { delivered: number; failed: number }>
  /** Commands that this document caused and that are not yet published. */
  outbox?: TimedOutboxEntry[]
}

/** One attempt of a delivery, as people read it. */
export interface DeliveryAttempt {
  attempt: number
  at: Date
  duration_ms: number
  outcome: 'delivered' | 'failed'
  /** HTTP status or SMTP reply code; null when there was no answer. */
  status: number | null
  /** In words a person can act on; null when delivered. */
  error: string | null
  /** At most the first KiB of what the receiver answered. */
  response: string | null
}

/** An address of a mail channel that a delivery has ended for: it is not written to again. */
export interface EndedAddress {
  /** The first 12 hex digits of the SHA-256 of the address in lower case; its mail's Message-ID carries them too. */
  tag: string
  /** refused: for good, by the mail server. */
  end: 'taken' | 'refused'
  /** The attempt that ended it. */
  attempt: number
}

/** One alert on its way to one channel. */
export interface DeliveryDocument {
  _id: string
  project_id: string
  channel_id: string
  channel_kind: ChannelKind
  alert_id: string
  event: Alert['event']
  test: boolean
  /** superseded: it is not sent any more, because a later message about the same incident tells it as well. */
  state: 'pending' | 'delivered' | 'retrying' | 'dead' | 'superseded'
  /** Why it ended or what is next, for a person. */
  reason: string
  attempts: DeliveryAttempt[]
  /** The attempt that comes next, and when; null when there is none. */
  next_attempt: { attempt: number; due_at: Date; topic: string } | null
  /** The message that told this one: the resolve that superseded it, or the id of a digest. Absent where it went alone. */
  told_by?: string
  /** It is told in no digest any more, because one was refused for what was in it. Absent: it may be. */
  goes_alone?: boolean
  /** The command or the replay that asked for an attempt last: the same one asks only once. */
  requested_by?: string
  /** The attempt on the ladder's first rung and from when its 72 hours count, once a person asked; absent: the first one. */
  ladder_from?: { attempt: number; at: Date }
  /** The addresses of a mail channel that are done, each once, or once a ladder where it was refused; absent: none is. */
  ended_addresses?: EndedAddress[]
  alert: Alert
  created_at: Date
  updated_at: Date
}

/** A message that was parked and is no delivery on record, which would tell of it. */
export interface DeadLetterDocument {
  /** Follows from where the message lay first. */
  _id: string
  /** The topic on which it lay first, and where it goes again. */
  topic: string
  key: string
  /** As it came, in base64; null for a tombstone. */
  value: string | null
  /** As it came, and where it lay first; not why it was parked. */
  headers: Record<string, string>
  /** The closed word, and in words for a person. */
  reason_code: string
  reason: string
  /** When it was parked last. */
  parked_at: Date
}

/** An address that gets no more mail of a project. */
export interface SuppressionDocument {
  /** `<project_id>/<address in lower case>` */
  _id: string
  project_id: string
  address: string
  /** Null while it is only counted (soft bounces) and still gets mail. */
  reason: SuppressionReason | null
  detail: string | null
  /** Times of soft bounces within the last seven days. */
  soft_bounces: Date[]
  suppressed_at: Date | null
  updated_at: Date
}

/** A bulk replay and how far it is. */
export interface ReplayDocument {
  /** The replay_id of its command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  state: 'running' | 'done'
  /** Deliveries in the window that ended without success when it began. */
  total: number
  requeued: number
  requested_at: Date
  /** Where it goes on after a restart: the last delivery that was sent again. */
  cursor: { created_at: Date; delivery_id: string } | null
  /** When its next page may be sent; whoever sends one puts this off first, so that two never send the same. */
  next_page_at: Date
  finished_at: Date | null
}
