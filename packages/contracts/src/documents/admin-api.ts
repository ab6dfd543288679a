/** Documents of admin-api, their only writer. */
import type { z } from 'zod'
import type { ChannelFilter } from '../channels/channel-filter.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import type { QuietHours } from '../channels/quiet-hours.ts'
import type { SealedSecret } from '../channels/sealed-secret.ts'
import type { ActorRole } from '../http/actor.ts'
import type { ApiKey } from '../http/api-key.ts'
import type { AccountSetting, Connection } from '../http/connection.ts'
import type { Person, RoleInProject, Session } from '../http/person.ts'
import type { ProjectBranding } from '../http/project.ts'
import type { Silence, SilenceSummary } from '../http/silence.ts'
import type { AlertEvent } from '../messages/alert.ts'
import type { ActionKind, ProviderKind } from '../providers.ts'
import type { LimitInterval } from '../values/period.ts'
import type { InboxSelection } from './reconciler.ts'

/** A project with its settings. */
export interface ProjectDocument {
  _id: string
  name: string
  /** The branding of this project's messages; an empty object means the branding of the installation. */
  branding: Branding
  /** The time zone of the times in its messages. Absent means DEFAULT_TIME_ZONE. */
  time_zone?: string
  /** True if requested operations wait for approval. Absent means false. */
  requires_approval?: boolean
  /** How long people have to decide on an approval. Absent means DEFAULT_APPROVAL_DEADLINE_S. */
  approval_deadline_seconds?: number
  /** True if the data of the project is made up. Absent means false. */
  demo?: boolean
  /** The tests of alert channels in the last hour, to limit them. Absent before the first one. */
  channel_tests?: readonly { readonly channel_id: string; readonly at: Date }[]
  /** Null or absent if the project is active. */
  archived_at?: Date | null
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
}

/** What people said about an actor, under its id. */
export interface ActorDocument {
  _id: string
  project_id: string
  /** The declared beginning of its idempotency keys; null if the provider names the actor. */
  prefix: string | null
  name: string | null
  role: ActorRole
  /** Since when it has the role. Only later actions of a canary open an incident. */
  role_since: Date
  /** When what people said was removed; null if it was not. The document is kept, so that all processes notice. */
  removed_at: Date | null
  version: number
  created_at: Date
  updated_at: Date
}

/** The branding of a project's mails. An absent field takes its value from the installation. */
export type Branding = z.infer<typeof ProjectBranding>

/** Whether the absence of the heartbeat was reported. */
export interface HeartbeatDocument {
  _id: 'alarm'
  /** True from the report that the heartbeat is missing to the report that it is back. */
  missing: boolean
  reported_at: Date
}

/** A time in which heartbeats came back, one after another (docs/adr/0020-sweep-days-and-uptimes.md). Between two such times alerts were not delivered. */
export interface UptimeDocument {
  /** `<time of the first heartbeat>` */
  _id: string
  /** When the first and the last of its heartbeats came back. */
  from: Date
  to: Date
}

/** A secret that authenticates notifications of a connection. During a rotation, several secrets are valid. */
export interface ConnectionSecret {
  sealed: SealedSecret
  /** A keyed hash of the secret. It distinguishes secrets without revealing them. */
  fingerprint: string
  created_at: Date
  /** The secret is refused from this time on. Null if it does not expire. */
  expires_at: Date | null
  /** Read keys only: the key is known to allow changes at the provider. Absent means that nothing is known. */
  has_full_access?: boolean
}

/** A billing account linked to a project. */
export interface ConnectionDocument
  extends Pick<
    Connection,
    'project_id' | 'kind' | 'name' | 'out_of_band' | 'status' | 'site' | 'api_base' | 'version'
  > {
  _id: string
  /** Null or absent if a second refund opens no incident. */
  refunded_twice_within_hours?: number | null
  /** The connected accounts with an `out_of_band` of their own, by their ids. Absent means none. */
  accounts?: AccountSetting[]
  /** False if a burst of unexplained actions opens no incident. Absent means true. */
  burst_alarm?: boolean
  /** The secrets that authenticate notifications: signing secret, destination key or basic-auth password. */
  inbound_secrets: ConnectionSecret[]
  read_key: ConnectionSecret | null
  /** The latest silence, which may have ended. Null or absent if there is none. */
  silence?: SilenceSummary | null
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** A period in which nobody is notified of alerts about a connection. It is kept after its end, to explain its incidents. */
export interface SilenceDocument
  extends Pick<Silence, 'project_id' | 'connection_id' | 'reason' | 'created_by' | 'ended_by'> {
  _id: string
  /** When the silence begins. */
  created_at: Date
  /** When the silence ends or ended. */
  ends_at: Date
}

/** An expected change: a refund or cancellation that people announced and that no operation reports. */
export interface ExpectedChangeDocument {
  _id: string
  project_id: string
  /**
   * Covers only the action of this incident, and only if the incident was resolved as our own change. Null or absent if it is not about an
   * incident.
   */
  incident_id?: string | null
  /** Null if the expected change covers every connection of the project. */
  connection_id: string | null
  kind: ActionKind
  /** Payment or subscription id; null if the expected change covers any. Empty if it has `limits`. */
  subject: string | null
  /** Minor units of each change; null if any amount is covered. */
  amount: number | null
  currency: string | null
  /**
   * Limits that 0.2.0 does not know. The document then has an empty subject. No id is empty, so a reconciler of 0.2.0 never finds it, and
   * covers nothing instead of too much.
   */
  limits?: {
    /** Instead of that of the document. */
    subject: string | null
    /** Null if the expected change covers every customer. */
    customer_id: string | null
    /** Null if the expected change covers every actor. */
    actor_id: string | null
    /** The period that `max_changes` and `max_amount` apply to; null if they apply in total. */
    interval: LimitInterval | null
  }
  /** The maximum number of covered changes. Absent means 1. */
  max_changes?: number
  /** The maximum of covered minor units; null or absent if there is no limit. */
  max_amount?: number | null
  /** Why the change is expected; shown with the verdict. */
  note: string
  created_by: string
  created_at: Date
  /**
   * The expected change covers changes that the provider makes at this time or later. Null means its creation time; then it also covers
   * changes that had an open incident or a pending second look at that time.
   */
  starts_at: Date | null
  /** The expected change covers changes that the provider makes before this time. The document is removed much later (TTL). */
  expires_at: Date
  /** A deleted expected change covers nothing more. Null or absent if it is not deleted. */
  deleted_at?: Date | null
  deleted_by?: string | null
}

/**
 * An alert channel: where alerts of a project are sent, and which events it gets.
 * @typeParam Config the configuration, which each kind of channel defines in its form
 */
export interface StoredChannel<Config extends { readonly kind: ChannelKind }> {
  _id: string
  project_id: string
  name: string
  events: AlertEvent[]
  config: Config
  /** True if messages may contain the name and e-mail address of customers and the user who made an action. Absent means false. */
  shows_personal_data?: boolean
  /** Limits the alerts of the channel. Null or absent means every alert of its events. */
  filter?: ChannelFilter | null
  /** When deliveries are held. Null or absent means never. */
  quiet_hours?: QuietHours | null
  enabled: boolean
  /** Grows by one with each change. */
  version: number
  created_at: Date
  updated_at: Date
  deleted_at: Date | null
}

/** An API key. The key itself is not stored, only its hash. */
export interface ApiKeyDocument
  extends Pick<ApiKey, 'name' | 'hint' | 'project_id' | 'created_by' | 'revoked_by' | 'version'> {
  _id: string
  /** SHA-256 of the key, in hex. */
  hash: string
  scopes: string[]
  created_at: Date
  expires_at: Date | null
  last_used_at: Date | null
  /** The time of the last rotation; null if there was none. */
  rotated_at: Date | null
  /** SHA-256 of the key before the rotation, in hex. It is accepted until `previous.expires_at`. */
  previous_hash: string | null
  /** Describes the key of `previous_hash`. */
  previous: { hint: string; expires_at: Date; last_used_at: Date | null } | null
  revoked_at: Date | null
  /** The value of `expires_at` that people were warned about; null before the warning. */
  warned_expiry: Date | null
  /** Recovered keys only: who created the key, until people were alerted about it; then null. */
  unreported_recovery?: string | null
  updated_at: Date
  /**
   * The admin key whose revocation relied on this key as the remaining one. If two keys are revoked at once, each relying on the other,
   * both revocations write this field, so only one of them commits.
   */
  successor_of?: string
}

/** A person who uses the management API. */
export interface PersonDocument extends Pick<Person, 'name' | 'email' | 'issuer' | 'disabled' | 'version'> {
  _id: string
  /** The id at the provider `issuer`; both are null if the person signs in by link only. */
  subject: string | null
  /** The roles that people assigned. */
  roles: RoleInProject[]
  /** The roles from the person's groups at the last sign-in. */
  group_roles: RoleInProject[]
  /** The projects of all roles; `*` stands for all projects. For lists. */
  project_ids: string[]
  last_sign_in_at: Date | null
  created_at: Date
  updated_at: Date
}

/** A signed-in browser. */
export interface SessionDocument
  extends Pick<Session, 'kind' | 'principal_id' | 'signed_in_by' | 'address' | 'user_agent'> {
  _id: string
  /** SHA-256 of the cookie's value, in hex. */
  hash: string
  /** The hash of the key at the sign-in: if the key is rotated, the session ends with the old key. Null for people. */
  key_hash: string | null
  /** The session that created the sign-in link of this one, the session that created the link of that one, and so on. */
  parent_ids: string[]
  created_at: Date
  last_seen_at: Date
  expires_at: Date
  ended_at: Date | null
}

/** A sign-in link, which can be used once. */
export interface SignInLinkDocument {
  /** SHA-256 of the token, in hex. */
  _id: string
  kind: 'key' | 'person'
  principal_id: string
  key_hash: string | null
  created_by: string
  /** The session that created the link: the link and its session last no longer. Null if an API key created it. */
  session_id: string | null
  expires_at: Date
  used_at: Date | null
}

/** The request for a bulk replay. Until the notifier starts, only this document exists about the replay. */
export interface ReplayRequestDocument {
  /** The replay_id of the replay's command. */
  _id: string
  project_id: string
  channel_id: string
  from: Date
  to: Date
  requested_at: Date
}

/** The request to erase the personal data of one customer of a project. Its progress is in `erasures` and `delivery_erasures`. */
export interface PersonErasureDocument {
  _id: string
  project_id: string
  /** How the customer is named. Null once everything is erased, so that the request does not keep it. */
  person: ErasedPerson | null
  requested_at: Date
}

/** How a customer is named: by the id at the provider, by the e-mail address in lower case, or by both. */
export interface ErasedPerson {
  customer_id: string | null
  email: string | null
  /** Where the customer has the id. Absent or null: at any provider. */
  provider?: ProviderKind | null
}

/** The request for a replay of notifications. Until the reconciler starts, only this document exists about the replay. */
export interface InboxReplayRequestDocument extends InboxSelection {
  /** The replay_id of the replay's command. */
  _id: string
  project_id: string
  requested_at: Date
}
