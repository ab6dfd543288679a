/** Documents of admin-api, their only writer. */
import type { ChannelKind } from '../channel-kind.ts'
import type { AlertEvent } from '../messages/alert.ts'
import type { ActionKind, OutOfBand, ProviderKind } from '../providers.ts'
import type { SealedSecret } from '../sealed-secret.ts'

/** A project with its settings. */
export interface ProjectDocument {
  _id: string
  name: string
  /** The look of this project's messages; empty: the look of the installation. */
  branding: Branding
  /** Whether requested operations wait for approval; absent: no. */
  requires_approval?: boolean
  /** How long an approval may take; absent: DEFAULT_APPROVAL_DEADLINE_S. */
  approval_deadline_seconds?: number
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
}

/** The look of a project's mails. An absent field takes its value from the installation. */
export interface Branding {
  /** Replaces "Backstop". */
  name?: string | undefined
  /** https; fetched by the reader's mail program, never by us. */
  logo_url?: string | undefined
  /** `#rrggbb`, for the bar and the button. */
  accent_colour?: string | undefined
  /** Plain text at the end: an address, a phone number. */
  footer?: string | undefined
}

/** One secret that notifications of a connection may be signed with; during a rotation several are valid. */
export interface ConnectionSecret {
  sealed: SealedSecret
  /** Keyed hash: tells two secrets apart without showing either. */
  fingerprint: string
  created_at: Date
  /** The secret is refused from this time on; null: it does not expire. */
  expires_at: Date | null
}

/** A billing account linked to a project. */
export interface ConnectionDocument {
  _id: string
  project_id: string
  kind: ProviderKind
  name: string
  out_of_band: OutOfBand
  /** needs_setup: a subscription connection without read key or site. Its hints are held and nothing is judged. */
  status: 'active' | 'needs_setup' | 'deleted'
  /** The secrets that authenticate notifications: signing secret, destination key or basic-auth password. */
  inbound_secrets: ConnectionSecret[]
  read_key: ConnectionSecret | null
  /** The provider's site (subscription only). */
  site: string | null
  /** Base URL of the provider's API; null: its public one. */
  api_base: string | null
  version: number
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** An expected change: a refund or cancellation that people announced and that no operation reports. */
export interface ExpectedChangeDocument {
  _id: string
  project_id: string
  /** Null: any connection of the project. */
  connection_id: string | null
  kind: ActionKind
  /** Payment or subscription id; null: any. */
  subject: string | null
  /** Minor units of each change; null: any amount. */
  amount: number | null
  currency: string | null
  /** How many changes it covers; absent: 1. */
  max_changes?: number
  /** Minor units that it covers in total; null or absent: no limit. */
  max_amount?: number | null
  /** Why the change is expected; shown with the verdict. */
  note: string
  created_by: string
  created_at: Date
  /**
   * It covers changes that the provider makes from this time on. Null: changes made from its creation on, and changes that
   * had an open incident or a pending second look then.
   */
  starts_at: Date | null
  /** It covers changes that the provider makes before this time. The document is removed much later (TTL). */
  expires_at: Date
}

/**
 * An alert channel: where alerts of a project go, and which events it gets.
 * @typeParam Config differs by kind: the kind's form says what it holds
 */
export interface StoredChannel<Config extends { readonly kind: ChannelKind }> {
  _id: string
  project_id: string
  name: string
  events: AlertEvent[]
  config: Config
  enabled: boolean
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** An API key. The key itself is not stored, only its hash. */
export interface ApiKeyDocument {
  _id: string
  name: string
  /** SHA-256 of the key, in hex. */
  hash: string
  /** The first characters, so that people recognise the key. */
  hint: string
  scopes: string[]
  /** Null: every project. */
  project_id: string | null
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
  /**
   * The admin key whose revocation counted on this one. Two revocations that count on each other's key both write it, so
   * that only one of them commits.
   */
  successor_of?: string
}

/** One row for each change; for refused requests one row for each minute, actor and error code. */
export interface AuditDocument {
  _id: string
  at: Date
  key_id: string | null
  /** For refusals: `refused.` and the error code. */
  action: string
  /** For refusals: the operationId of the first request. */
  target: string
  project_id: string | null
  /** Null for a change without a request. */
  request_id: string | null
  address: string | null
  /** Refusals only: how many. */
  count?: number
  /** Refusals only: when the last one was. */
  last_at?: Date
  /** Refusals only: the operationIds that were called, ten at most. */
  operations?: string[]
  /** Refusals only: the first characters of an unknown key. */
  key_hint?: string | null
}

/** The request for a bulk replay. It is all that can be shown before the notifier starts. */
export interface ReplayRequestDocument {
  /** The replay_id of its command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  requested_at: Date
}
