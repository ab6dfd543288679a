/** Documents of admin-api: nobody else writes them. */
import type { ChannelKind } from '../channel-kind.ts'
import type { AlertEvent } from '../messages/alert.ts'
import type { ActionKind, OutOfBand, ProviderKind } from '../providers.ts'
import type { SealedSecret } from '../sealed-secret.ts'

/** A project with its settings. */
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

/** A billing account linked to a project. */
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

/** A person's note that a change will come that no operation tells of, until it expires. */
export interface ExpectedChangeDocument {
  _id: string
  project_id: string
  /** Null: through any connection. */
  connection_id: string | null
  kind: ActionKind
  /** Payment or subscription id; null: on any. */
  subject: string | null
  /** Minor units of each change; null: of any amount. */
  amount: number | null
  currency: string | null
  /** How many changes it covers: 1 where absent. */
  max_changes?: number
  /** Minor units that it covers in total; null or absent: any. */
  max_amount?: number | null
  /** Why it is expected, for whoever reads the verdict. */
  note: string
  created_by: string
  created_at: Date
  /** Covers what the provider makes from then on; null where nobody said: from when it was noted, and what was open then. */
  starts_at: Date | null
  /** Covers what the provider makes before; the document is removed long after (TTL). */
  expires_at: Date
}

/**
 * Where a project is alerted, and of which events.
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

/** An API key: its hash, never itself. */
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
  /**
   * The admin key whose revocation counted on this one. Two revocations that count on each other's key both write it, so
   * that only one of them commits.
   */
  successor_of?: string
}

/** One row a mutation; for refused requests, one for each minute, actor and error code. */
export interface AuditDocument {
  _id: string
  at: Date
  key_id: string | null
  /** For refusals `refused.` and the error code. */
  action: string
  /** For refusals the operationId of the first request. */
  target: string
  project_id: string | null
  /** Null for what was changed without a request. */
  request_id: string | null
  address: string | null
  /** The rest belongs to refusals alone: how many, when the last one was, and which operations they asked for (ten at most). */
  count?: number
  last_at?: Date
  operations?: string[]
  /** The beginning of a key that nobody knows. */
  key_hint?: string | null
}

/** A bulk replay as it was asked for: what there is to show of it before the notifier begins. */
export interface ReplayRequestDocument {
  /** The replay_id of its command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  requested_at: Date
}
