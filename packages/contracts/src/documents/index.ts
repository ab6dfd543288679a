/**
 * Documents that one service writes and others read. Each names its owner: nobody else writes that collection
 * (DESIGN, the table of services). Times are BSON dates.
 */
import type { ChannelConfig, ChannelKind } from '../channels/index.ts'
import type { InboxOutcome } from '../http/inbox.ts'
import type { AlertEvent } from '../messages/alert.ts'
import type { Alert, SuppressionReason } from '../messages/index.ts'
import type { ActionKind, OutOfBand, ProviderKind } from '../providers.ts'
import type { Action, Incident } from '../verdict.ts'

export type * from './ledger.ts'

/** A secret as the secret box sealed it (guides: R3.1): never readable without the key-encryption key. */
export type SealedSecret = string

/** Owner: admin-api. */
export interface ProjectDocument {
  _id: string
  name: string
  /** How this project's messages look; empty: as Backstop's. */
  branding: Branding
  /** Absent: not required. */
  requires_approval?: boolean
  /** How long people have to decide; absent: DEFAULT_APPROVAL_DEADLINE_S. */
  approval_deadline_seconds?: number
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
}

/** How a project's mails look. Every field that is absent is Backstop's own. */
export interface Branding {
  /** Stands where "Backstop" would. */
  name?: string | undefined
  /** https; fetched by the reader's mail program, never by us. */
  logo_url?: string | undefined
  /** `#rrggbb`, for the bar and the button. */
  accent_colour?: string | undefined
  /** Plain text at the end: an address, a phone number. */
  footer?: string | undefined
}

/** One secret of a connection that notifications may be signed with; several overlap while one is rotated. */
export interface ConnectionSecret {
  sealed: SealedSecret
  /** Keyed hash that tells two secrets apart without showing either. */
  fingerprint: string
  created_at: Date
  /** The secret is refused from then on; null while it has no end. */
  expires_at: Date | null
}

/** Owner: admin-api. A billing account linked to a project. */
export interface ConnectionDocument {
  _id: string
  project_id: string
  kind: ProviderKind
  name: string
  out_of_band: OutOfBand
  /** needs_setup: a subscription connection without read key or site; its hints are held, nothing is judged. */
  status: 'active' | 'needs_setup' | 'deleted'
  /** What notifications are authenticated with: signing secret, destination key or basic-auth password. */
  inbound_secrets: ConnectionSecret[]
  read_key: ConnectionSecret | null
  /** The provider's site (subscription only). */
  site: string | null
  /** Where the provider's API is, when not at its public address. */
  api_base: string | null
  version: number
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** Owner: reconciler. How far the sweep of one connection has come; its id is the connection's. */
export interface SweepDocument {
  _id: string
  project_id: string
  /** Where to go on, in the provider's own terms; null before the baseline was read. */
  cursor: Record<string, string> | null
  /** When the baseline (schedules that were set before the connection) was complete. */
  baseline_at: Date | null
  /** Set while one process sweeps; another may take over once it has passed. */
  leased_until: Date | null
  lease_holder: string | null
  /** Whether somebody asked for a run since this was claimed last: the end of that run then puts the next one off no more. */
  woken: boolean
  next_run_at: Date
  last_run_at: Date | null
  /** In words a person can act on; null after a run that worked. */
  last_error: string | null
  /** Since when no run has worked; null after one that did. */
  failing_since: Date | null
  /** Events that the provider lists and that had not come yet, with the provider's time: are they late, or lost? */
  unseen: { event_id: string; event_type: string; created_at: Date }[]
  /** Since when hints of this connection wait for a re-read that cannot be had; null while all is well. */
  unverified_since: Date | null
  /** The open incident of this connection by its code. */
  open_incidents: Partial<Record<'FEED_SILENT' | 'VERIFICATION_UNAVAILABLE', string>>
}

/** Owner: admin-api. A person's note that a change will come that no operation tells of, until it expires. */
export interface ExpectedChangeDocument {
  _id: string
  project_id: string
  /** Null: through any connection. */
  connection_id: string | null
  kind: ActionKind
  /** Payment or subscription id; null: on any. */
  subject: string | null
  /** Minor units; null: of any amount. */
  amount: number | null
  currency: string | null
  /** Why it is expected, for whoever reads the verdict. */
  note: string
  created_by: string
  created_at: Date
  /** Covers what the provider makes before; the document is removed long after (TTL). */
  expires_at: Date
}

/** Owner: admin-api. */
export interface ChannelDocument {
  _id: string
  project_id: string
  name: string
  events: AlertEvent[]
  config: ChannelConfig
  enabled: boolean
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** Owner: notifier. A channel works when it is enabled and its health has not disabled it. */
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

/** A message that a document caused, kept in that document until the broker has it. */
export interface OutboxEntry {
  /** Deterministic: the message id that consumers deduplicate by. */
  id: string
  topic: string
  key: string
  /** The message, encoded when it is published. */
  message: unknown
  headers?: Record<string, string>
}

/** An outbox entry with the time at which it was written, in milliseconds since the epoch: a sweeper takes old ones. */
export type TimedOutboxEntry = OutboxEntry & { at: number }

/** Owner: reconciler. */
export type ActionDocument = Omit<Action, 'action_id'> & {
  _id: string
  first_seen: Date
  /** The action that it turned out to be. Lists leave it out; an alert may have led here, so it leads on. */
  merged_into?: string
}
/** Owner: reconciler. */
export type IncidentDocument = Omit<Incident, 'incident_id'> & {
  _id: string
  opened: Date
  /** Messages that this document caused and that are not yet published; those of an action's incident lie in its subject. */
  outbox?: TimedOutboxEntry[]
}

/** Owner: reconciler. The mark that an event is done. Its body lies beside it in `inbox_bodies` and goes much sooner. */
export interface InboxDocument {
  /** `<connection_id>/<event_id>` */
  _id: string
  project_id: string
  connection_id: string
  provider: ProviderKind
  event_id: string
  event_type: string
  outcome: InboxOutcome
  reason: string
  action_ids: string[]
  received_at: Date
  processed_at: Date
}

/** Owner: reconciler. Raw bodies hold personal data: kept for 14 days, under the id of their inbox entry. */
export interface InboxBodyDocument {
  _id: string
  received_at: Date
  /** JSON text: as a document, a body of many levels or with odd keys could not be stored. */
  body: string
}

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

/** Owner: notifier. One alert on its way to one channel. */
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

/** Owner: admin-api. */
export interface ApiKeyDocument {
  _id: string
  name: string
  /** SHA-256 of the key, in hex. */
  hash: string
  /** The first characters, to recognise it by. */
  hint: string
  scopes: string[]
  /** Null: every project. */
  project_id: string | null
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
}

/** Owner: notifier. A message that was parked and is no delivery on record, which would tell of it. */
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

/** Owner: admin-api. One row a mutation. */
export interface AuditDocument {
  _id: string
  at: Date
  key_id: string | null
  action: string
  target: string
  project_id: string | null
  request_id: string
  address: string | null
}

/** Owner: the deploy job. Known schema ids, so that a registry that is away stops nobody. */
export interface SchemaIdDocument {
  /** `<message type>/<sha256 of the schema>`, as `schemaKey` makes it. */
  _id: string
  schema_id: number
  message: string
  registered_at: Date
}

/** Owner: notifier. An address that gets no more mail of a project. */
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

/** Owner: admin-api. A bulk replay as it was asked for: what there is to show of it before the notifier begins. */
export interface ReplayRequestDocument {
  /** The replay_id of its command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  requested_at: Date
}

/** Owner: notifier. A bulk replay and how far it is. */
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
