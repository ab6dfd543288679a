/** Generated from the OpenAPI document by `npm run client-types`. Do not edit. */
import type { PagedList, Paging, RequestOptions } from '../call.ts'

export type Action = {
  action_id: string
  project_id: string
  connection_id: string
  connection_ids: string[]
  provider: "processor" | "reseller" | "subscription"
  kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
  subject: string
  provider_ref: string | null
  amount: number | null
  currency: string | null
  state: "pending" | "requires_action" | "scheduled" | "succeeded" | "failed" | "canceled" | "rejected" | "reversed"
  authorization_released?: true
  subscription_continues?: boolean
  provider_created_at: string
  first_seen_at: string
  second_look_at: string | null
  verdict: "pending" | "explained" | "unexplained" | "not_alerted"
  reason: "awaiting_second_look" | "provider_ref_matches" | "request_id_matches" | "idempotency_key_matches" | "credit_note_matches" | "amount_and_time_match" | "made_before_connection" | "scheduled_before" | "expected_change_matches" | "nothing_explains_it" | "out_of_band_ignore" | "auto_before_first_operation" | "connection_deleted" | "involuntary_end" | "plan_ended" | "no_payment_method" | "payment_disputed" | "retention_policy" | "never_began" | "not_billable" | "authorization_expired" | "kind_is_not_judged" | "provider_denies_it"
  operation_id: string | null
  why?: {
    rule: string
    candidates: ({
      operation_id: string
      failure: "operation_did_not_act" | "operation_skipped_approval" | "other_kind" | "other_provider_ref" | "other_subject" | "other_amount" | "outside_time_window" | "explains_another" | "other_operation_fits_better" | "awaits_its_own"
      text: string
    })[]
    closest?: {
      operation_id: string
      failure: "operation_did_not_act" | "operation_skipped_approval" | "other_kind" | "other_provider_ref" | "other_subject" | "other_amount" | "outside_time_window" | "explains_another" | "other_operation_fits_better" | "awaits_its_own"
      text: string
      reported?: { amount: number | null; currency: string | null; at: string }
    }
    read_back: "confirmed" | "not_found" | "unavailable" | null
  }
  differences?: ({
    field: "amount" | "currency" | "subject" | "state" | "existence"
    operation_says: string
    provider_says: string
  })[]
  incident_id: string | null
  event_ids: string[]
  origin?: {
    channel: "api" | "dashboard" | "automatic" | "hosted_page" | null
    key_name: string | null
    user: string | null
    request_id: string | null
    idempotency_key: string | null
  }
  actor_id?: string
  actor_name?: string
  customer?: { id: string | null; name: string | null; email: string | null } | null
  payment?: {
    number: string | null
    plan: string | null
    refund_reason: string | null
    destination: string | null
  }
  mode?: "live" | "test" | null
  account?: string
  links?: { provider: string | null; console: string | null }
  timeline: ({
    at: string
    what: "event_received" | "explained" | "explanation_lost" | "second_look" | "incident_opened" | "incident_acknowledged" | "incident_assigned" | "incident_commented" | "incident_resolved" | "incident_reopened" | "alert_sent" | "read_back" | "drift_detected" | "settled"
    id: string | null
    text: string
    by?: { kind: "api_key" | "person" | "backstop"; id: string; name: string }
  })[]
  version: number
}

export type ActorPatch = {
  /** As people know it; null for none */
  name?: string | null
  /** `canary`: each action of it from now on opens an incident CANARY_USED at once */
  role?: "ours" | "person" | "agent" | "canary" | "unknown"
}

export type AlertChannel = {
  channel_id: string
  /** The same as `channel_id`, by its older name */
  id: string
  project_id: string
  name: string
  events: ("run.failed" | "incident.opened" | "drift.detected" | "cap.threshold" | "approval.requested" | "approval.reminder" | "approval.expired" | "incident.resolved" | "incident.acknowledged")[]
  config: { kind: "slack"; webhook_url_fingerprint: string } | { kind: "email"; to: string[] } | {
    kind: "webhook"
    url: string
    secret_fingerprint: string | null
    previous_secret_expires_at: string | null
    header_names: string[]
    template: string | null
  } | { kind: "pagerduty"; events_url: string; routing_key_fingerprint: string } | { kind: "teams"; webhook_url_fingerprint: string } | { kind: "discord"; webhook_url_fingerprint: string }
  /** Whether messages contain personal data: the name and e-mail address of customers, the user who made an action, a reason that a person wrote, and all other values of the provider that contain an e-mail address. Without it these are null or '(hidden)', and messages contain only the provider's id of the customer */
  shows_personal_data: boolean
  /** Limits the alerts of the channel; null: every alert of its events */
  filter: {
    /** Only alerts about these connections, and alerts that concern no connection */
    connection_ids: string[] | null
    /** Of the alerts about a refund or cancellation, only these kinds */
    kinds: ("refund" | "cancellation")[] | null
    /** Of the alerts about a refund, only those of at least this amount, in minor units by currency: {"eur": 5000}. A currency that is not named has no minimum */
    minimum_amounts: Record<string, unknown> | null
  } | null
  /** slack and email: hours in which deliveries are held, to be sent as one digest at their end; null: none */
  quiet_hours: {
    /** A name of the IANA time zone database */
    time_zone: string
    /** Local time, HH:MM */
    from: string
    /** Local time, HH:MM. Not after `from`: on the next day */
    to: string
    /** The days on which quiet hours begin; null: every day */
    days: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[] | null
  } | null
  /** Whether alerts go there: it is switched on, and its failures have not disabled it */
  enabled: boolean
  health: ChannelHealth
  version: number
  created_at: string
  updated_at: string
}

export type AlertChannelPatch = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name?: string
  events?: ("run.failed" | "incident.opened" | "drift.detected" | "cap.threshold" | "approval.requested" | "approval.reminder" | "approval.expired" | "incident.resolved" | "incident.acknowledged")[]
  config?: {
    /** slack, teams and discord; never shown again */
    webhook_url?: string
    /** email: replaces all addresses */
    to?: string[]
    /** webhook; a URL of another host requires `headers` too if the channel has any */
    url?: string
    /** webhook: replaces all custom headers; {} removes them */
    headers?: Record<string, string>
    /** webhook: the body of each request; null returns to the document */
    template?: string | null
    /** pagerduty; never shown again */
    routing_key?: string
    /** Read-only: may be sent back unchanged */
    kind?: "slack" | "email" | "webhook" | "pagerduty" | "teams" | "discord"
    /** Read-only: may be sent back unchanged */
    webhook_url_fingerprint?: string
    /** Read-only: may be sent back unchanged */
    secret_fingerprint?: string | null
    /** Read-only: may be sent back unchanged */
    previous_secret_expires_at?: string | null
    /** Read-only: may be sent back unchanged */
    header_names?: string[]
    /** Read-only: may be sent back unchanged */
    events_url?: string
    /** Read-only: may be sent back unchanged */
    routing_key_fingerprint?: string
  }
  /** Applies to messages that are not sent yet, too */
  shows_personal_data?: boolean
  /** Replaces the whole filter; null removes it */
  filter?: {
    /** Only alerts about these connections, and alerts that concern no connection */
    connection_ids?: string[] | null
    /** Of the alerts about a refund or cancellation, only these kinds */
    kinds?: ("refund" | "cancellation")[] | null
    /** Of the alerts about a refund, only those of at least this amount, in minor units by currency: {"eur": 5000}. A currency that is not named has no minimum */
    minimum_amounts?: Record<string, number> | null
  } | null
  /** Replaces the quiet hours; null removes them */
  quiet_hours?: {
    /** A name of the IANA time zone database */
    time_zone: string
    /** Local time, HH:MM */
    from: string
    /** Local time, HH:MM. Not after `from`: on the next day */
    to: string
    /** The days on which quiet hours begin; null: every day */
    days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[] | null
  } | null
  /** true also enables a channel again that its failures disabled */
  enabled?: boolean
  /** Read-only: may be sent back unchanged */
  channel_id?: string
  /** Read-only: may be sent back unchanged */
  id?: string
  /** Read-only: may be sent back unchanged */
  project_id?: string
  /** Read-only: ignored */
  health?: unknown
  /** Read-only: ignored; If-Match refuses a change of another version */
  version?: number
  /** Read-only: ignored */
  created_at?: string
  /** Read-only: ignored */
  updated_at?: string
}

export type ApiKey = {
  key_id: string
  name: string
  /** The first characters of the key */
  hint: string
  scopes: ("admin" | "manage" | "incidents:write" | "operations:write" | "approvals:write" | "read")[]
  project_id: string | null
  state: "active" | "expired" | "revoked"
  created_at: string
  /** The key or person that created it; null for the bootstrap key */
  created_by: string | null
  expires_at: string | null
  /** Accurate to one minute */
  last_used_at: string | null
  rotated_at: string | null
  /** The key before the rotation, while it is still accepted */
  previous: { hint: string; expires_at: string; last_used_at: string | null } | null
  revoked_at: string | null
  /** The key or person that revoked it */
  revoked_by: string | null
  version: number
  updated_at: string
}

export type ApiKeyPatch = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
}

export type ApiKeyRotation = {
  /** How long the previous key is also accepted */
  overlap_hours?: number
  /** When the new key expires */
  expires_in_days?: number
}

export type ApprovalDecision = { reason?: string | null }

export type AuditEntry = {
  audit_id: string
  at: string
  /** The API key of the request; `recovery` for `backstop keys recover`; null if the key is missing or unknown */
  key_id: string | null
  /** The key or person of the request, or the unsubscribe link of a mail (its `id` is a hash of the address); null if it is unknown */
  actor?: { kind: "key" | "person" | "mail_link"; id: string; name: string | null } | null
  /** The session of the request; null if it was made with a key */
  session_id?: string | null
  /** For example alert_channel.create; for refusals `refused.` and the error code */
  action: string
  /** Id of the changed resource; for refusals the first of `operations` */
  target: string
  project_id: string | null
  /** The X-Request-Id of the answer, as in the log; null for `backstop keys recover` */
  request_id: string | null
  /** The address of the client */
  address: string | null
  /** The place in the hash chain; absent in the first seconds */
  sequence?: number
  previous_hash?: string
  /** The time of the previous row of the chain */
  previous_at?: string | null
  /** When the row joined the chain */
  chained_at?: string
  /** SHA-256 of `previous_hash` and this row */
  hash?: string
  /** The id of a key of SECRET_KEYS, and the MAC of this row by it; absent in rows of before the update */
  mac?: string
  /** True if the row was written by something that does not have SECRET_KEYS */
  unsigned?: boolean
  /** The changed fields with their old and new values; of secrets only fingerprints */
  changes?: { resource: string; field: string; from: unknown; to: unknown }[]
  /** `connection.erase`, `person_erasure.finish`: the numbers of records whose personal data was erased; actions and deliveries only for a person */
  erased?: { cases: number; bodies: number; actions?: number; deliveries?: number }
  /** Refusals: the number of refused requests that the row stands for */
  count?: number
  /** Refusals: the time of the last request */
  last_at?: string
  /** Refusals: the operationIds of the requests, ten at most; the path for a wrong method, `none` for two Authorization headers */
  operations?: string[]
  /** Refusals: the first characters of an unknown key */
  key_hint?: string | null
  /** The stored row does not have the form of a row of the audit: somebody wrote it into the database. Only `audit_id` and `at` are those of the row */
  unreadable?: true
  /** `api_key.recover`: who ran the command, by `--operator` or user and machine */
  operator?: string
}

export type AuditVerification = {
  state: "intact" | "broken"
  /** The newest row of the chain. Keep it elsewhere, and give it as `head` later */
  head: { sequence: number; hash: string } | null
  /** The number of rows that were verified */
  verified: number
  /** The oldest verified row */
  first_sequence: number | null
  /** The first of `faults` */
  broken: {
    reason: "row_missing" | "row_changed" | "link_broken" | "mac_missing" | "mac_wrong" | "row_unsigned" | "row_outside" | "chain_broken" | "head_missing" | "head_changed" | "head_set_back" | "head_differs" | "key_unknown"
    /** The row; null if it has no place in the chain */
    sequence: number | null
    /** The row; null if it is missing */
    audit_id: string | null
    /** What was found, in one sentence for people to read */
    text: string
  } | null
  /** What is wrong, newest row first; twenty at most */
  faults: NonNullable<AuditVerification["broken"]>[]
  /** Rows up to this one are only hashed, because they are older than the update; null if there are none */
  hashed_until: number | null
  /** The number of verified rows that were written without SECRET_KEYS: by `keys recover`, or during the update */
  unsigned: number
  /** Where to continue; null at the end of the chain */
  next_sequence: number | null
}

export type ChannelHealth = {
  state: "unused" | "healthy" | "failing" | "disabled"
  success_rate: number | null
  last_success_at: string | null
  last_failure_at: string | null
  /** What failed, and what to do about it */
  last_error: string | null
  /** Since when nothing was delivered. After 15 minutes an incident opens; five days of failures of the receiver disable the channel */
  failing_since: string | null
  /** While the channel is paused: when it is tried again. Until then retries wait, and so do most first attempts */
  held_until: string | null
  /** Why the channel is paused */
  held_reason: string | null
  disabled_at: string | null
  disabled_reason: string | null
  /** Why the channel gets fewer alerts than it seems, and what to do about it */
  warning: string | null
}

export type ChannelSecretRotation = {
  /** The new secret, base64 after `whsec_`; generated if left out */
  secret?: string
  /** How long deliveries are also signed with the previous secret */
  overlap_hours?: number
}

export type ChannelTestResult = {
  delivered: boolean
  /** HTTP status or SMTP reply code; null without an answer */
  status: number | null
  latency_ms: number | null
  error?: string
  /** The first KiB of the receiver's answer */
  response: string | null
}

export type Completeness = {
  project_id: string
  project_name: string
  from: string
  /** Exclusive */
  to: string
  made_at: string
  /** Outages of Backstop in the period; null if no heartbeat was ever recorded */
  outages: {
    recorded_from: string
    /** When the last heartbeat came back */
    recorded_until: string
    /** Times in which no heartbeat came back: no alert was delivered */
    found: ({ from: string; to: string | null })[]
  } | null
  /** At most 100, the newest ones */
  connections: ({
    connection_id: string
    connection_name: string
    provider: "processor" | "reseller" | "subscription"
    answer: "complete" | "complete_so_far" | "open" | "not_provable"
    /** What is not read or judged yet */
    open: ("not_read_yet" | "verdicts_pending" | "notifications_wait" | "notifications_unusable" | "being_counted")[]
    /** What cannot be known */
    limits: ("no_read_key" | "not_read_for_thirty_days" | "connected_later" | "deleted_earlier" | "reading_not_recorded" | "found_by_reading_not_recorded" | "connected_accounts")[]
    /** The beginning of the period, or the creation of the connection */
    watched_from: string
    /** The end of the period (exclusive), or the deletion of the connection */
    watched_to: string
    /** Every change of the period up to this time was read; null if none was, or if there is no read key */
    complete_until: string | null
    /** Number of refunds, cancellations and other changes that the provider made in the period */
    recorded: number
    /** The part of `recorded` that has a verdict */
    judged: number
    /** The part of `recorded` of which no notification arrived; null if it is not known for all days */
    found_by_reading: number | null
    /** Notifications of the period that wait until the account can be read; at most 100 are counted */
    waiting_notifications: number
    /** Dead letters of the period; at most 100 are counted */
    unusable_notifications: number
    reading: {
      /** Nothing is recorded about reading before this time; null if nothing is */
      recorded_from: string | null
      /** How often the lists of the provider were read to their end in the period */
      completed: number
      /** Number of entries in these lists. Entries of the last 15 minutes are listed again */
      objects: number
      /** Times of at least 15 minutes in which the lists were not read to their end. What changed in them was read when they ended */
      interruptions: ({
        from: string
        to: string | null
        /** For people to read; null if no reading failed */
        cause: string | null
      })[]
    }
    /** As in GET /v1/statements */
    lines: ({
      category: "made_by_our_software" | "expected" | "unexplained" | "pending" | "out_of_band_ignored" | "other" | "not_carried_out"
      kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
      currency: string | null
      /** Whether the actions moved real money; null if the provider does not report it */
      mode: "live" | "test" | null
      count: number
      /** The sum in minor units */
      amount: number
    })[]
  })[]
  /** False if the project has more connections */
  connections_complete: boolean
}

export type Connection = {
  connection_id: string
  project_id: string
  kind: "processor" | "reseller" | "subscription"
  name: string
  out_of_band: "auto" | "alert" | "ignore"
  /** Within how many hours a second refund of the same amount opens REFUNDED_TWICE; null if it never does */
  refunded_twice_within_hours: number | null
  /** The connected accounts with an `out_of_band` of their own, by their ids */
  accounts: ({ account: string; out_of_band: "auto" | "alert" | "ignore" })[]
  /** Whether unusually many unexplained actions open UNEXPLAINED_BURST */
  burst_alarm: boolean
  status: "active" | "needs_setup" | "deleted"
  /** The URL for the notifications of the provider */
  inbound_url: string
  site: string | null
  api_base: string | null
  has_read_key: boolean
  reading: {
    /** off: no read key, or the setup is incomplete. pending: not yet read with this key */
    state: "off" | "pending" | "healthy" | "failing"
    /** When the last sweep ended */
    last_run_at: string | null
    /** Why the last sweep failed, and what to do */
    error: string | null
    failing_since: string | null
    /** When the next sweep is due; after failures the pauses grow to five minutes */
    next_run_at: string | null
  }
  /** While the connection is silenced: until when, by whom and why */
  silence: {
    silence_id: string
    /** When the silence ends or ended */
    ends_at: string
    /** The API key that created the silence */
    created_by: string
    reason: string
  } | null
  secret_fingerprints: string[]
  /** Settings that work and should be changed, with the remedy */
  warnings: { field: string; message: string }[]
  version: number
  created_at: string
  updated_at: string
}

export type ConnectionPatch = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name?: string
  out_of_band?: "auto" | "alert" | "ignore"
  /** Opens an incident REFUNDED_TWICE if two operations refund the same amount of a payment within so many hours. Null, the default, never opens one: equal partial refunds, e.g. of two returned items, may be meant */
  refunded_twice_within_hours?: number | null
  /** Opens an incident UNEXPLAINED_BURST within seconds if unusually many refunds or cancellations are unexplained so far. True by default */
  burst_alarm?: boolean
  /** Processor only: sets `out_of_band` of these connected accounts; null gives an account that of the connection again. Others stay as they are. At most 1000 accounts have a setting */
  accounts?: ({ account: string; out_of_band: "auto" | "alert" | "ignore" | null })[]
  /** A new read-only key for the provider's API; null removes it */
  read_key?: string | null
  api_base?: string | null
  /** Subscription only; can be set while the connection has none, and not changed afterwards, because ids are unique within a site */
  site?: string
}

export type CreatedApiKey = ApiKey & {
  /** The key: shown once, and absent from a repeated answer */
  key?: string
}

export type CreatedConnection = Connection & {
  /** Processor: shown once */
  signing_secret?: string
  /** Subscription: always `service` */
  username?: string
  /** Subscription: shown once */
  password?: string
}

export type DeadLetter = {
  /** For a notification its inbox_id, for a delivery its delivery_id */
  dead_letter_id: string
  kind: "notification" | "provider_object" | "operation" | "recheck" | "reread" | "readback" | "command" | "incident" | "alert" | "delivery" | "unknown"
  /** Null if the message cannot be read */
  project_id: string | null
  /** The original topic */
  topic: string
  /** The key of a message; null for notifications and deliveries */
  key: string | null
  /** The size of the value of a message, which is not shown; null for notifications and deliveries */
  bytes: number | null
  reason_code: string | null
  /** Why it could not be used */
  reason: string
  /** When it was last dead-lettered; a failed replay updates this time */
  parked_at: string
  /** The path of the inbox entry, delivery or operation; null if there is none */
  resource: string | null
  /** The call that sends it again after its cause was removed; null if it cannot be sent again */
  repair: { method: "POST"; path: string } | null
  /** Why it cannot be sent again; null if it can */
  repair_blocked_by: string | null
  /** The call that removes it from the list without sending it; null for notifications and deliveries */
  dismiss: { method: "POST"; path: string } | null
}

export type Delivery = {
  delivery_id: string
  project_id: string
  channel_id: string
  channel_kind: "slack" | "email" | "webhook" | "pagerduty" | "teams" | "discord"
  alert_id: string
  event: string
  test: boolean
  state: "pending" | "delivered" | "retrying" | "dead" | "superseded"
  reason: string
  /** What the message is about */
  about: {
    /** The first line of the message */
    title: string
    /** The page in the console, below PUBLIC_URL; null if there is none */
    path: string | null
  }
  attempts: ({
    attempt: number
    at: string
    duration_ms: number
    outcome: "delivered" | "failed"
    status: number | null
    error: string | null
    response: string | null
  })[]
  next_attempt_at: string | null
  /** The attempt waits until this time, because the channel is paused or has quiet hours; `reason` says which. Null if the delivery is not held */
  held_until: string | null
  /** The delivery that superseded this delivery, or the digest that contained it; null if it was sent separately */
  told_by?: string | null
  created_at: string
  updated_at: string
}

export type DismissedDeadLetters = {
  /** Dead letters that leave the list and are never sent */
  dismissed: number
  /** Dead letters that cannot be dismissed */
  blocked: { dead_letter_id: string; reason: string }[]
  /** Send it as `cursor` to continue; null if every dead letter was tried */
  next_cursor: string | null
}

export type ExpectedChange = {
  expected_change_id: string
  project_id: string
  /** Covers only the action of this incident, and only if the incident is resolved as our own change; null if it is not about an incident */
  incident_id: string | null
  connection_id: string | null
  kind: "refund" | "cancellation"
  subject: string | null
  amount: number | null
  currency: string | null
  /** Covers only changes of this customer; null if of every customer */
  customer_id: string | null
  /** Covers only changes that this actor made; null if of every actor */
  actor_id: string | null
  /** The period in UTC that `max_changes` and `max_amount` apply to; null if they apply in total */
  interval: "day" | "week" | "month" | null
  /** Maximum number of covered changes; with an interval, of each period */
  max_changes: number
  /** Number of changes covered so far; with an interval, of the current or last period */
  changes_covered: number
  /** Maximum of covered minor units; with an interval, of each period; null if there is no limit */
  max_amount: number | null
  /** Minor units of `currency` covered so far; with an interval, of the current or last period; null if no currency was given */
  amount_covered: number | null
  note: string
  /** The API key that created the expected change */
  created_by: string
  created_at: string
  /** Covers changes that the provider makes at this time or later; null if no time was given */
  starts_at: string | null
  /** Covers changes that the provider makes before this time */
  expires_at: string
  /** A deleted expected change covers nothing more; null if it is not deleted */
  deleted_at: string | null
  /** The API key that deleted the expected change */
  deleted_by: string | null
}

export type FailedRun = {
  run_id: string
  project_id: string
  reason: string | null
  failed_at: string
  reported_at: string
}

export type InboxEntry = {
  inbox_id: string
  project_id: string
  connection_id: string
  provider: "processor" | "reseller" | "subscription"
  event_id: string
  event_type: string
  outcome: "recorded" | "ignored" | "held" | "hinted" | "parked"
  reason: string
  action_ids: string[]
  received_at: string
  processed_at: string
  /** The last replay that decided the notification again; null if there was none */
  replay_id: string | null
}

export type InboxEntryWithBody = InboxEntry & {
  /** The body as the provider sent it; null after its retention of 14 days */
  body: unknown
}

export type InboxReplay = {
  replay_id: string
  project_id: string
  connection_id: string
  /** The replayed events; null for a window */
  event_ids: string[] | null
  from: string | null
  to: string | null
  outcome: "recorded" | "ignored" | "held" | "hinted" | "parked" | null
  /** requested: the reconciler has not started the replay yet */
  state: "requested" | "running" | "done"
  /** Selected notifications when the replay started; null before */
  total: number | null
  /** Notifications sent through the decision again so far */
  replayed: number
  skipped: {
    /** Notifications whose body is not kept any more */
    body_erased: number
    /** Objects of a provider's answer, which the next sweep reads again */
    not_a_notification: number
  }
  requested_at: string
  finished_at: string | null
}

export type Incident = {
  incident_id: string
  project_id: string
  connection_id: string | null
  code: "UNEXPECTED_ACTION" | "CHANNEL_DISABLED" | "CHANNEL_FAILING" | "REFUND_REJECTED" | "REFUNDED_TWICE" | "UNEXPLAINED_BURST" | "CANARY_USED" | "VERIFICATION_UNAVAILABLE" | "FEED_SILENT" | "KEY_EXPIRING" | "KEY_RECOVERED"
  state: "open" | "acknowledged" | "resolved"
  summary: string
  action_id: string | null
  actor_id?: string
  channel_id?: string | null
  key_id?: string | null
  refunded_twice?: {
    operation_id: string
    earlier: {
      action_id: string
      provider_ref: string
      operation_id: string
      provider_created_at: string
    }
  }
  burst?: {
    provider: "processor" | "reseller" | "subscription"
    account?: string
    accounts?: number
    count: number
    first_at: string
    last_at: string
    per_minute: number
    kinds: ({
      kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
      count: number
    })[]
    money: ({ currency: string; amount: number; count: number; mode?: "live" | "test" | null })[]
    looks_at: string
    last_look_at: string
    common?: {
      channel: { value: "api" | "dashboard" | "automatic" | "hosted_page"; count: number } | null
      key_name: { value: string; count: number } | null
      actor?: {
        value: string
        kind: "api_key" | "dashboard_user" | "hosted_page" | "provider" | "key_prefix"
        name?: string
        count: number
      } | null
      user: { value: string; count: number } | null
      customer: { value: NonNullable<Action["customer"]>; count: number } | null
      subject: { value: string; count: number } | null
      amount: { value: number; currency: string; count: number } | null
      refund_reason: { value: string; count: number } | null
    }
    why: {
      rule: string
      usual_wait_ms: number
      usual_late_per_minute: number
      late: number
      threshold: number
    }
    outcome?: "confirmed" | "explained"
  }
  out_of_band: "auto" | "alert" | "ignore" | null
  opened_at: string
  provider_created_at?: string
  acknowledged_at?: string | null
  acknowledged_by?: string | null
  assignee?: string | null
  resolved_at: string | null
  resolved_by: string | null
  resolution?: string | null
  reason?: "our_own_change" | "fraud_or_leaked_key" | "provider_mistake" | "duplicate" | "other" | "connection_deleted" | null
  note?: string | null
  reopened?: number
  storm_id?: string | null
  version: number
  /** The name that people gave to the actor; absent without one */
  actor_name?: string
  /** The connected account of its action; absent for the account of the connection itself */
  account?: string
  /** The trace of the message that opened the incident; absent if traces were off */
  trace_id?: string
}

export type IncidentBulk = {
  bulk_id: string
  project_id: string
  state: "running" | "done"
  changed: number
  /** Incidents whose state did not allow the change any more */
  refused: number
  requested_at: string
  finished_at: string | null
}

export type IncidentWithTimeline = Incident & {
  action: Action | null
  timeline: Action["timeline"]
  /** What to do about the unexplained action at its provider; null for every other incident */
  next_steps: { sentence: string; steps: string[] } | null
  /** The silence during which the incident opened: no channel was notified of it. Null if there was none */
  silence: NonNullable<Connection["silence"]> | null
  deliveries: ({
    delivery_id: string
    channel_id: string
    alert_id: string
    event: string
    state: "pending" | "delivered" | "retrying" | "dead" | "superseded"
    reason: string
    attempts: ({
      attempt: number
      at: string
      duration_ms: number
      outcome: "delivered" | "failed"
      status: number | null
      error: string | null
    })[]
  })[]
}

export type ListedIncident = Incident & {
  /** The silence during which the incident opened: no channel was notified of it. Null if there was none */
  silence: NonNullable<Connection["silence"]> | null
  /** The refund or cancellation; null if the incident is about something else */
  action: {
    kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
    subject: string
    amount: number | null
    currency: string | null
    customer?: NonNullable<Action["customer"]> | null
    origin?: NonNullable<Action["origin"]>
    authorization_released?: true
  } | null
  /** The storm that the incident stands for; only with `fold_storms` */
  storm?: StormOverview
}

export type NamedOperation = ShownOperation & {
  /** The name of the API key or person in `approval.decided_by`; null if there is none, or it was deleted */
  decided_by_name: string | null
}

export type NewActor = {
  /** The beginning of the idempotency keys that your software sends to the card processor, e.g. "billing-" */
  prefix: string
  name: string
  role?: "ours" | "person" | "agent" | "canary" | "unknown"
}

export type NewAlertChannel = {
  project_id: string
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  events: ("run.failed" | "incident.opened" | "drift.detected" | "cap.threshold" | "approval.requested" | "approval.reminder" | "approval.expired" | "incident.resolved" | "incident.acknowledged")[]
  config: {
    kind: "slack"
    /** URL of an incoming webhook; never shown again */
    webhook_url: string
  } | { kind: "email"; to: string[] } | {
    kind: "webhook"
    url: string
    /** Signs each delivery; never shown again. After `whsec_` it is base64 */
    secret?: string
    /** Custom headers (at most 20, 4 KiB in all); values are never shown again */
    headers?: Record<string, string>
    /** The body of each request: JSON with placeholders such as {{incident.summary}} (docs/webhooks.md). It is not a secret; set credentials as `headers` */
    template?: string
  } | {
    kind: "pagerduty"
    /** Integration Key of an Events API v2 integration; never shown again */
    routing_key: string
    /** Where events are sent: for accounts in the EU https://events.eu.pagerduty.com/v2/enqueue. It cannot change */
    events_url?: string
  } | {
    kind: "teams"
    /** URL of an incoming webhook; never shown again */
    webhook_url: string
  } | {
    kind: "discord"
    /** URL of an incoming webhook; never shown again */
    webhook_url: string
  }
  /** Whether messages contain personal data: the name and e-mail address of customers, the user who made an action, a reason that a person wrote, and all other values of the provider that contain an e-mail address. Without it these are null or '(hidden)', and messages contain only the provider's id of the customer */
  shows_personal_data?: boolean
  /** Limits the alerts of the channel; null: every alert of its events */
  filter?: NonNullable<AlertChannelPatch["filter"]> | null
  /** slack and email: hours in which deliveries are held, to be sent as one digest at their end; null: none */
  quiet_hours?: NonNullable<AlertChannelPatch["quiet_hours"]> | null
}

export type NewApiKey = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  scopes: ("admin" | "manage" | "incidents:write" | "operations:write" | "approvals:write" | "read")[]
  /** Binds the key to one project; if omitted, the key works for all projects */
  project_id?: string
  expires_in_days?: number
}

export type NewBudget = {
  project_id: string
  /** Counts only operations of this connection; if omitted, of the whole project */
  connection_id?: string
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  /** ISO 4217; operations in other currencies do not count */
  currency: string
  /** Minor units of the currency in each period */
  cap: number
  /** In UTC: a day from midnight, a week from Monday, a month from its first day */
  interval: "day" | "week" | "month"
}

export type NewConnection = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  out_of_band?: "auto" | "alert" | "ignore"
  /** Opens an incident REFUNDED_TWICE if two operations refund the same amount of a payment within so many hours. Null, the default, never opens one: equal partial refunds, e.g. of two returned items, may be meant */
  refunded_twice_within_hours?: number | null
  /** Opens an incident UNEXPLAINED_BURST within seconds if unusually many refunds or cancellations are unexplained so far. True by default */
  burst_alarm?: boolean
  /** Read-only key for the provider's API */
  read_key?: string
  /** Base URL of the provider's API, if not the public one; its host must be the provider's own or an allowed one */
  api_base?: string
  /** Demo projects only: the connection is recorded as created at this time, at most 31 days ago, so that made-up earlier changes are judged */
  connected_at?: string
  kind: "processor"
  signing_secret?: string
} | {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  out_of_band?: "auto" | "alert" | "ignore"
  /** Opens an incident REFUNDED_TWICE if two operations refund the same amount of a payment within so many hours. Null, the default, never opens one: equal partial refunds, e.g. of two returned items, may be meant */
  refunded_twice_within_hours?: number | null
  /** Opens an incident UNEXPLAINED_BURST within seconds if unusually many refunds or cancellations are unexplained so far. True by default */
  burst_alarm?: boolean
  /** Read-only key for the provider's API */
  read_key?: string
  /** Base URL of the provider's API, if not the public one; its host must be the provider's own or an allowed one */
  api_base?: string
  /** Demo projects only: the connection is recorded as created at this time, at most 31 days ago, so that made-up earlier changes are judged */
  connected_at?: string
  kind: "reseller"
  destination_secret: string
} | {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  out_of_band?: "auto" | "alert" | "ignore"
  /** Opens an incident REFUNDED_TWICE if two operations refund the same amount of a payment within so many hours. Null, the default, never opens one: equal partial refunds, e.g. of two returned items, may be meant */
  refunded_twice_within_hours?: number | null
  /** Opens an incident UNEXPLAINED_BURST within seconds if unusually many refunds or cancellations are unexplained so far. True by default */
  burst_alarm?: boolean
  /** Read-only key for the provider's API */
  read_key?: string
  /** Base URL of the provider's API, if not the public one; its host must be the provider's own or an allowed one */
  api_base?: string
  /** Demo projects only: the connection is recorded as created at this time, at most 31 days ago, so that made-up earlier changes are judged */
  connected_at?: string
  kind: "subscription"
  /** The provider's site; without it and a read key the connection holds its hints */
  site?: string
}

export type NewExpectedChange = {
  project_id: string
  /** Covers only changes of this connection; if omitted, of every connection of the project */
  connection_id?: string
  kind: "refund" | "cancellation"
  /** Payment or subscription id; if omitted, any */
  subject?: string
  /** Minor units of each change; if omitted, any amount */
  amount?: number
  /** ISO 4217; required with amount or max_amount */
  currency?: string
  /** Covers only changes of this customer, by the id that the account of the connection gives it; if omitted, of every customer. Requires connection_id */
  customer_id?: string
  /** Covers only changes that this actor made (`actor_id` of an action); if omitted, of every actor */
  actor_id?: string
  /** Applies max_changes and max_amount to each of these periods, in UTC: a day from midnight, a week from Monday, a month from its first day. The time of the change at the provider decides. If omitted, they apply in total */
  interval?: "day" | "week" | "month"
  /** Maximum number of covered changes. Default: 1, or 1000 with both interval and max_amount */
  max_changes?: number
  /** Maximum of covered minor units, of all covered changes together; if omitted, no limit. Refunds only */
  max_amount?: number
  /** Why the change is expected; shown with the verdict */
  note: string
  /** Covers changes that the provider makes at this time or later. If omitted: changes made after its creation, and changes that have an open incident or a pending second look at its creation */
  starts_at?: string
  /** At most 30 days, and at most 366 days with an interval */
  expires_in_seconds?: number
}

export type NewInboxReplay = {
  connection_id: string
  /** Only notifications that were received at this time or later */
  from: string
  /** End of the window, exclusive */
  to: string
  /** Only notifications with this outcome */
  outcome?: "recorded" | "ignored" | "held" | "hinted" | "parked"
}

export type NewOperation = {
  connection_id: string
  kind: "refund" | "cancellation"
  /** Payment or subscription id at the provider */
  subject: string
  /** Minor units */
  amount?: number | null
  /** ISO 4217; an operation without a currency explains a refund only by provider_ref, provider_request_id or idempotency_key */
  currency?: string | null
  /** The provider's id of the refund or cancellation */
  provider_ref?: string | null
  /** The id of the request that the provider's answer names, e.g. the header Request-Id of the card processor */
  provider_request_id?: string | null
  /** The idempotency key that your software sent to the provider. A repeated report answers the same operation, in the new state if that state is later */
  idempotency_key?: string | null
  state?: "requested" | "approval_pending" | "approved" | "declined" | "expired" | "executing" | "awaiting_review" | "completed" | "failed" | "rejected"
  /** When the operation began executing, if that was before this report */
  executing_at?: string | null
  /** When the operation ended, if that was before this report */
  ended_at?: string | null
  run_id?: string | null
  reason?: string | null
}

export type NewPerson = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  email?: string
  roles: ({
    /** null: all projects, also future ones */
    project_id: string | null
    role: "viewer" | "responder" | "approver" | "manager" | "admin"
  })[]
}

export type NewPersonErasure = {
  /** The customer's id at the provider, as in `customer.id` */
  customer_id?: string
  /** Where the customer has this id. Without it, customers with the id at any provider are erased */
  provider?: "processor" | "reseller" | "subscription"
  /** The customer's e-mail address. Case does not matter */
  email?: string
}

export type NewProject = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name: string
  /** true for a project with made-up data: DELETE removes it, and its connections may have a connected_at */
  demo?: boolean
}

export type NewReplay = {
  channel_id: string
  from: string
  /** End of the window, exclusive, after `from` */
  to: string
}

export type NewSilence = {
  project_id: string
  connection_id: string
  /** How long; at most 30 days. Give either this or ends_at */
  duration_seconds?: number
  /** In place of duration_seconds; at most 30 days from now */
  ends_at?: string
  /** Why no alert is wanted; shown with the connection and its incidents */
  reason: string
}

export type NewSuppression = { project_id: string; address: string }

export type NewTransition = {
  to: "requested" | "approval_pending" | "approved" | "declined" | "expired" | "executing" | "awaiting_review" | "completed" | "failed" | "rejected"
  /** The provider's id of the refund or cancellation */
  provider_ref?: string | null
  /** The id of the request that the provider's answer names, e.g. the header Request-Id of the card processor */
  provider_request_id?: string | null
  /** When the operation began executing, if that was before this report */
  executing_at?: string | null
  /** When the operation ended, if that was before this report */
  ended_at?: string | null
  reason?: string | null
}

export type OperationBatch = {
  /** Items that name one operation in the same way are carried out in their order, others at the same time */
  items: (NewOperation & {
    /** The idempotency key that your software sent to the provider. A repeated batch is recognised by it */
    idempotency_key: string
    type: "report"
  } | NewTransition & { type: "transition"; operation_id: string })[]
}

export type OperationBatchResults = {
  results: ({
    /** The status that the item would have had as a call of its own */
    status: number
    /** The operation after the item; null if the item was refused */
    operation: ShownOperation | null
    /** Why the item was refused; null if it was carried out */
    problem: Problem | null
  })[]
}

export type Person = {
  person_id: string
  name: string
  email: string | null
  roles: ({
    project_id: string | null
    role: "viewer" | "responder" | "approver" | "manager" | "admin"
    /** group: from the groups at the last sign-in with OpenID Connect */
    source: "assigned" | "group"
  })[]
  disabled: boolean
  /** The OpenID Connect provider; null if the person signs in by link only */
  issuer: string | null
  last_sign_in_at: string | null
  version: number
  created_at: string
  updated_at: string
}

export type PersonErasure = {
  erasure_id: string
  project_id: string
  /** requested: not started yet. running: it walks twice through all records, ten minutes apart */
  state: "requested" | "running" | "done"
  /** Numbers of erased records so far. What a crash made the product repeat may be counted twice */
  erased: {
    /** Payments and subscriptions of the customer */
    cases: number
    /** Refunds and cancellations of these */
    actions: number
    /** Raw notifications, which were removed */
    bodies: number
    /** Recorded deliveries of alerts */
    deliveries: number
  }
  requested_at: string
  finished_at: string | null
}

export type PersonPatch = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name?: string
  /** True ends all sessions and refuses every sign-in */
  disabled?: boolean
  roles?: ({
    /** null: all projects, also future ones */
    project_id: string | null
    /** null removes the role */
    role: "viewer" | "responder" | "approver" | "manager" | "admin" | null
  })[]
}

export type Problem = {
  /** urn:backstop:error:<code> */
  type: string
  title: string
  status: number
  code: "invalid_request" | "malformed_json" | "malformed_event" | "signature_rejected" | "unauthenticated" | "forbidden" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "illegal_transition" | "incident_state" | "last_admin_key" | "budget_exceeded" | "idempotency_conflict" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "unsupported_encoding" | "rate_limited" | "headers_too_large" | "internal" | "unavailable" | "overloaded" | "config_invalid" | "message_invalid" | "egress_blocked" | "secret_unreadable"
  /** What was wrong with this request, and what to do */
  detail: string
  request_id?: string
  /** The trace of the request, if traces are on */
  trace_id?: string
  /** Each refused field */
  errors?: { path: string; message: string }[]
  /** budget_exceeded: the budget, and the remaining minor units */
  budget?: { budget_id: string; left: number; currency: string; period_ends_at: string }
}

export type Project = {
  project_id: string
  name: string
  branding: {
    /** Replaces "Backstop". No control characters, line breaks, zero-width characters or marks of text direction */
    name?: string
    /** https; the reader's mail program loads it */
    logo_url?: string
    accent_colour?: string
    /** Plain text at the end of each mail */
    footer?: string
  }
  /** The time zone of the times in messages: a name of the IANA time zone database. UTC by default */
  time_zone: string
  /** True if requested operations wait for approval; an operation that executes without approval explains nothing. False: no approval is needed, so whoever reports an operation may also report it as `approved` */
  requires_approval: boolean
  /** How long people have to decide; a reminder is sent after half of the time */
  approval_deadline_seconds: number
  /** True if its data is made up; DELETE removes such a project */
  demo: boolean
  /** When the project was archived; null if it is active */
  archived_at: string | null
  version: number
  created_at: string
  updated_at: string
}

export type ProjectPatch = {
  /** No control characters, line breaks, zero-width characters or marks of text direction */
  name?: string
  branding?: Project["branding"]
  /** The time zone of the times in messages: a name of the IANA time zone database. UTC by default */
  time_zone?: string
  /** True if requested operations wait for approval; an operation that executes without approval explains nothing. False: no approval is needed, so whoever reports an operation may also report it as `approved` */
  requires_approval?: boolean
  /** How long people have to decide; a reminder is sent after half of the time */
  approval_deadline_seconds?: number
  /** true archives the project, which must have no connections; false restores it */
  archived?: boolean
}

export type Replay = NewReplay & {
  replay_id: string
  project_id: string
  to: string
  /** requested: the notifier has not started the replay yet */
  state: "requested" | "running" | "done"
  /** Dead and retrying deliveries in the window when the replay started; null before */
  total: number | null
  /** Deliveries sent again so far */
  requeued: number
  requested_at: string
  finished_at: string | null
}

export type ReplayedDeadLetters = {
  /** Dead letters that are sent again */
  replayed: number
  /** Dead letters that cannot be sent again */
  blocked: { dead_letter_id: string; reason: string }[]
  /** Send it as `cursor` to continue; null if every dead letter was tried */
  next_cursor: string | null
}

export type RotatedAlertChannel = AlertChannel & {
  /** The new secret: shown once, and absent if the request is repeated */
  secret?: string
}

export type RunWithOperations = {
  run_id: string
  project_id: string
  /** Null if the run was not reported as failed */
  failure: FailedRun | null
  /** The newest 100; GET /v1/operations?run_id=… lists all */
  operations: ShownOperation[]
}

export type SecretRotation = {
  /** How long the previous secrets stay valid; 24 hours by default. Not together with overlap_hours */
  overlap_seconds?: number
  /** In place of overlap_seconds, not together with it */
  overlap_hours?: number
  /** Reseller: the new secret of its notification destination */
  destination_secret?: string
  /** Processor: your own new secret; if omitted, a secret is generated */
  signing_secret?: string
}

export type SelectDeadLetters = {
  project_id?: string
  kind?: "notification" | "provider_object" | "operation" | "recheck" | "reread" | "readback" | "command" | "incident" | "alert" | "delivery" | "unknown"
  /** Only dead letters of this time or later */
  from?: string
  /** Only dead letters before this time */
  to?: string
  /** `next_cursor` of the previous answer, to continue */
  cursor?: string
}

export type Session = {
  session_id: string
  kind: "key" | "person"
  /** The key or person that is signed in */
  principal_id: string
  signed_in_by: "key" | "link" | "oidc"
  state: "active" | "expired" | "ended"
  created_at: string
  /** Accurate to one minute */
  last_seen_at: string
  /** The latest end; a session that is not used for 8 hours ends earlier */
  expires_at: string
  ended_at: string | null
  address: string | null
  user_agent: string | null
}

export type SettingDryRun = {
  project_id: string
  connection_id: string
  from: string
  to: string
  out_of_band: "auto" | "alert" | "ignore"
  /** What alerted, by the settings of then */
  alerted: {
    count: number
    /** Money per currency. Refunds that failed or were taken back are left out */
    sums: {
      currency: string
      count: number
      /** Minor units */
      amount: number
    }[]
  }
  /** What would have alerted by the tried setting */
  would_alert: {
    count: number
    /** Money per currency. Refunds that failed or were taken back are left out */
    sums: SettingDryRun["alerted"]["sums"]
  }
  /** Actions that nothing explained at a second look in the window */
  unexplained: number
  /** False if only a part of the window was counted; give a shorter one */
  is_complete: boolean
  /** The newest 500 of them */
  actions: ({
    action_id: string
    kind: "refund" | "cancellation"
    subject: string
    provider_ref: string | null
    /** Minor units */
    amount: number | null
    currency: string | null
    first_seen_at: string
    /** When the second look found no explanation */
    looked_at: string
    /** True if it alerted, by the settings of then */
    alerted: boolean
    /** True if it would have alerted by the tried setting */
    would_alert: boolean
  })[]
  /** Null if neither the query nor the connection has hours */
  refunded_twice: {
    within_hours: number
    /** Second refunds first seen in the window that would have opened REFUNDED_TWICE */
    would_alert: {
      count: number
      /** Money per currency. Refunds that failed or were taken back are left out */
      sums: SettingDryRun["alerted"]["sums"]
    }
    /** The newest 500 of them */
    refunds: {
      action_id: string
      subject: string
      /** Minor units */
      amount: number
      currency: string
      provider_created_at: string
      operation_id: string
      earlier: NonNullable<Incident["refunded_twice"]>["earlier"]
    }[]
  } | null
}

export type ShownAction = Action & {
  /** The action that this action was merged into; lists omit merged actions */
  merged_into?: string
}

export type ShownActor = {
  actor_id: string
  project_id: string
  /** Null if the actions that named it are no longer known */
  kind: "api_key" | "dashboard_user" | "hosted_page" | "provider" | "key_prefix" | null
  /** The name or id of the key, the user, or the prefix. Null if there is none, or if it was erased */
  label: string | null
  provider: "processor" | "reseller" | "subscription" | null
  /** The connected account at the provider; null if there is none */
  account: string | null
  name: string | null
  role: "ours" | "person" | "agent" | "canary" | "unknown"
  /** When the provider made its first action; null before one is counted */
  first_at: string | null
  /** When the provider made its last action */
  last_at: string | null
  /** All its actions. Counts are about two seconds late */
  actions: number
  /** By kind, currency and mode */
  totals: ({
    kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
    currency: string | null
    /** Whether they moved real money; null if the provider does not report it */
    mode: "live" | "test" | null
    count: number
    /** Minor units of the actions that moved money */
    amount: number
  })[]
  /** 0 before somebody named it */
  version: number
}

export type ShownBudget = {
  budget_id: string
  project_id: string
  connection_id: string | null
  name: string
  currency: string
  cap: number
  interval: "day" | "week" | "month"
  version: number
  created_at: string
  updated_at: string
  current: {
    starts_at: string
    ends_at: string
    used: number
    reserved: number
    left: number
    /** The amount by which `used` and `reserved` exceed the cap; 0 within the cap */
    overspent: number
  }
}

export type ShownOperation = {
  operation_id: string
  project_id: string
  connection_id: string
  provider: "processor" | "reseller" | "subscription"
  version: number
  kind: "refund" | "cancellation"
  subject: string
  amount: number | null
  currency: string | null
  provider_ref: string | null
  idempotency_key: string | null
  run_id: string | null
  state: "requested" | "approval_pending" | "approved" | "declined" | "expired" | "executing" | "awaiting_review" | "completed" | "failed" | "rejected"
  reason: string | null
  executing_at: string | null
  ended_at: string | null
  created_at: string
  updated_at: string
  approval?: {
    required: boolean
    requested_at: string
    remind_at: string
    deadline_at: string
    reminded_at: string | null
    decided_at: string | null
    decided_by: string | null
  } | null
  unapproved?: "never_asked" | "outstanding" | "declined" | "expired" | null
  budgets?: ({
    budget_id: string
    period_start: string
    amount: number
    state: "reserved" | "spent" | "released"
  })[]
  reported_by?: string | null
  provider_request_id?: string | null
}

export type Silence = {
  silence_id: string
  project_id: string
  connection_id: string
  reason: string
  state: "active" | "ended"
  /** The API key that created the silence */
  created_by: string
  /** When the silence begins */
  created_at: string
  /** When the silence ends or ended */
  ends_at: string
  /** The API key that ended the silence early; null if it ends by itself */
  ended_by: string | null
}

export type Statement = {
  project_id: string
  /** Null for a statement of all connections of the project */
  connection_id: string | null
  /** Of another period its days: `2026-07-01/2026-10-01`, without the last one */
  month: string
  from: string
  /** Exclusive. The period begins and ends at midnight UTC */
  to: string
  lines: Completeness["connections"][number]["lines"]
  /** Who made them, as far as the providers name somebody: the 1,000 lines with the most actions. Of each day and connection, the 1,000 actors with the most actions are counted */
  actors: ({
    kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
    currency: string | null
    /** Whether the actions moved real money; null if the provider does not report it */
    mode: "live" | "test" | null
    count: number
    /** The sum in minor units of the actions that moved money */
    amount: number
    actor_id: string
    /** The name that people gave to the actor; absent without one */
    actor_name?: string
  })[]
  /** False if `actors` has not all lines, because there are more than 1,000 */
  actors_complete: boolean
  /** True if a day of the month changed and is counted again within seconds */
  recount_pending: boolean
}

export type Stats = {
  from: string
  /** Exclusive */
  to: string
  interval: "day" | "week" | "month"
  totals: ({
    verdict: "pending" | "explained" | "unexplained" | "not_alerted"
    kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
    /** Null if no money moves */
    currency: string | null
    /** Whether the actions moved real money; null if the provider does not report it */
    mode: "live" | "test" | null
    count: number
    /** The part of `count` that moved no money: the provider shows it as failed, canceled, rejected or reversed */
    not_carried_out: number
    /** The sum in minor units, without the actions of `not_carried_out` */
    amount: number
  })[]
  series: ({
    verdict: "pending" | "explained" | "unexplained" | "not_alerted"
    kind: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
    /** Null if no money moves */
    currency: string | null
    /** Whether the actions moved real money; null if the provider does not report it */
    mode: "live" | "test" | null
    count: number
    /** The part of `count` that moved no money: the provider shows it as failed, canceled, rejected or reversed */
    not_carried_out: number
    /** The sum in minor units, without the actions of `not_carried_out` */
    amount: number
    /** The beginning of the interval (UTC) */
    at: string
  })[]
  times: {
    /** From the first record of an action to its first verdict */
    verdict: {
      count: number
      /** Within 5 % of the exact median; null if there is none */
      median_ms: number | null
    }
    /** From the opening of an incident about an action to its acknowledgement */
    acknowledgement: {
      count: number
      /** Within 5 % of the exact median; null if there is none */
      median_ms: number | null
    }
    /** From the opening of an incident about an action to its end */
    resolution: {
      count: number
      /** Within 5 % of the exact median; null if there is none */
      median_ms: number | null
    }
  }
  /** True if a day of the period changed and is counted again within seconds */
  recount_pending: boolean
}

export type StormOverview = {
  storm_id: string
  project_id: string
  connection_id: string
  /** The connected account of all its actions; absent for the connection's own account, and for many accounts */
  account?: string
  provider: "processor" | "reseller" | "subscription"
  /** open if an incident is open, or none has joined the storm of a burst yet; acknowledged if none is open and one is acknowledged; resolved if all are resolved */
  state: "open" | "acknowledged" | "resolved"
  began_at: string
  /** When the last incident joined */
  last_at: string
  /** When no further incidents joined; null while it goes on */
  ended_at: string | null
  incidents: { open: number; acknowledged: number; resolved: number }
  /** Minor units of the incidents with an amount, by currency and mode; test money last */
  money: ({ currency: string; amount: number; count: number; mode: "live" | "test" | null })[]
  /** The actor of at least half of its incidents, with the name that people gave it; null if no actor has that many */
  actor: { actor_id: string; actor_name?: string; incidents: number } | null
  /** The incidents UNEXPLAINED_BURST that continue in this storm. They are not counted, and are changed with the storm */
  bursts?: { incident_id: string; opened_at: string; count: number }[]
}

export type StormWithSteps = StormOverview & {
  /** What to do at the provider; null if every incident is resolved */
  next_steps: { sentence: string; steps: string[] } | null
  /** Of the reports about the storm, and of the bursts that continue in it */
  deliveries: IncidentWithTimeline["deliveries"]
}

export type Suppression = {
  project_id: string
  address: string
  reason: "unsubscribed" | "hard_bounce" | "soft_bounces" | "complaint" | "manual"
  detail: string | null
  suppressed_at: string
}

/** The calls of the management API by resource. */
export interface Api {
  actions: {
    /** GET /v1/actions: List refunds and cancellations, newest first */
    list(query?: Paging & {
      connection_id?: string
      project_id?: string
      /** Only this connected account of the card processor */
      account?: string
      /** Only actions of this storm, those with the newest incidents first */
      storm_id?: string
      verdict?: "pending" | "explained" | "unexplained" | "not_alerted"
      reason?: "awaiting_second_look" | "provider_ref_matches" | "request_id_matches" | "idempotency_key_matches" | "credit_note_matches" | "amount_and_time_match" | "made_before_connection" | "scheduled_before" | "expected_change_matches" | "nothing_explains_it" | "out_of_band_ignore" | "auto_before_first_operation" | "connection_deleted" | "involuntary_end" | "plan_ended" | "no_payment_method" | "payment_disputed" | "retention_policy" | "never_began" | "not_billable" | "authorization_expired" | "kind_is_not_judged" | "provider_denies_it"
      kind?: "refund" | "cancellation" | "pause" | "resume" | "schedule_removal" | "dispute" | "credit" | "reversal"
      state?: "pending" | "requires_action" | "scheduled" | "succeeded" | "failed" | "canceled" | "rejected" | "reversed"
      /** The payment or subscription id at the provider */
      subject?: string
      /** The provider's id of the refund */
      provider_ref?: string
      /** Who made it, as GET /v1/projects/{id}/actors lists it */
      actor_id?: string
      /** Only this customer, by the id that its provider gives it. Needs `project_id`, and `connection_id` if accounts of the project give the same ids */
      customer_id?: string
      currency?: string
      /** Minor units, inclusive; give currency too, or amounts of all currencies are compared */
      min_amount?: number
      /** Minor units, inclusive */
      max_amount?: number
      /** Only actions that were first seen at this time or later */
      from?: string
      /** Only actions that were first seen before this time */
      to?: string
      /** Only actions that the provider made at this time or later, as stats and statements count them */
      made_from?: string
      /** Only actions that the provider made before this time */
      made_to?: string
      /** Whether they moved real money, as the provider reports it */
      mode?: "live" | "test"
      /** csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson` */
      format?: "json" | "csv" | "ndjson"
    }, options?: RequestOptions): PagedList<ShownAction>
    /** GET /v1/actions/{id}: Get an action with its verdict, the reason and the timeline */
    get(id: string, options?: RequestOptions): Promise<ShownAction>
  }
  actors: {
    /** GET /v1/projects/{id}/actors: List who made refunds and cancellations, the last to act first */
    list(id: string, query?: Paging & {
      kind?: "api_key" | "dashboard_user" | "hosted_page" | "provider" | "key_prefix"
      role?: "ours" | "person" | "agent" | "canary" | "unknown"
    }, options?: RequestOptions): PagedList<ShownActor>
    /** POST /v1/projects/{id}/actors: Declare software by the prefix of its idempotency keys */
    declare(id: string, body: NewActor, options?: RequestOptions): Promise<ShownActor>
    /** GET /v1/projects/{id}/actors/{actor_id}: Get who made refunds and cancellations */
    get(id: string, actor_id: string, options?: RequestOptions): Promise<ShownActor>
    /** PATCH /v1/projects/{id}/actors/{actor_id}: Name an actor, and say what it is */
    name(id: string, actor_id: string, body: ActorPatch, options?: RequestOptions): Promise<ShownActor>
    /** DELETE /v1/projects/{id}/actors/{actor_id}: Remove the name and the role of an actor, or a declared prefix */
    forget(id: string, actor_id: string, options?: RequestOptions): Promise<void>
  }
  alertChannels: {
    /** GET /v1/alert-channels: List alert channels, newest first */
    list(query?: Paging & { project_id?: string }, options?: RequestOptions): PagedList<AlertChannel>
    /** POST /v1/alert-channels: Create an alert channel */
    create(body: NewAlertChannel, options?: RequestOptions): Promise<AlertChannel>
    /** GET /v1/alert-channels/{id}: Get an alert channel with its health */
    get(id: string, options?: RequestOptions): Promise<AlertChannel>
    /** PATCH /v1/alert-channels/{id}: Change, enable or disable an alert channel */
    change(id: string, body: AlertChannelPatch, options?: RequestOptions): Promise<AlertChannel>
    /** DELETE /v1/alert-channels/{id}: Delete an alert channel */
    delete(id: string, options?: RequestOptions): Promise<void>
    /** POST /v1/alert-channels/{id}/rotate-secret: Rotate the signing secret of a webhook */
    rotateSecret(id: string, body?: ChannelSecretRotation, options?: RequestOptions): Promise<RotatedAlertChannel>
    /** POST /v1/alert-channels/{id}/test: Send a test delivery through an alert channel */
    test(id: string, options?: RequestOptions): Promise<ChannelTestResult>
  }
  apiKeys: {
    /** POST /v1/api-keys: Create an API key */
    create(body: NewApiKey, options?: RequestOptions): Promise<CreatedApiKey>
    /** GET /v1/api-keys: List API keys, also expired and revoked ones, newest first */
    list(query?: Paging & { project_id?: string }, options?: RequestOptions): PagedList<ApiKey>
    /** GET /v1/api-keys/{id}: Get an API key, also an expired or revoked one */
    get(id: string, options?: RequestOptions): Promise<ApiKey>
    /** PATCH /v1/api-keys/{id}: Rename an API key */
    change(id: string, body: ApiKeyPatch, options?: RequestOptions): Promise<ApiKey>
    /** DELETE /v1/api-keys/{id}: Revoke an API key */
    revoke(id: string, options?: RequestOptions): Promise<void>
    /** POST /v1/api-keys/{id}/rotate: Replace an API key by a new one with the same id, name and scopes */
    rotate(id: string, body?: ApiKeyRotation, options?: RequestOptions): Promise<CreatedApiKey>
  }
  audit: {
    /** GET /v1/audit/verify: Verify the hash chain of the audit, from the newest row to the oldest */
    verify(query?: {
      /** `next_sequence` of the previous answer; the newest row if omitted */
      from_sequence?: number
      /** A head that was kept elsewhere, `<sequence>:<hash>`: that row must still have this hash */
      head?: string
    }, options?: RequestOptions): Promise<AuditVerification>
    /** GET /v1/audit/export: Export the chain of the audit as NDJSON with a signature, oldest row first */
    export(options?: RequestOptions): Promise<Response>
    /** GET /v1/audit/public-keys: List the public keys with which exports of the audit are verified */
    getPublicKeys(options?: RequestOptions): Promise<{
      keys: {
        /** The key of SECRET_KEYS that the key pair is derived from */
        key_id: string
        /** Ed25519, as PEM */
        public_key: string
      }[]
    }>
    /** GET /v1/audit: List who changed what, and who was refused, newest first */
    list(query?: Paging & {
      project_id?: string
      target?: string
      key_id?: string
      /** For example alert_channel.create */
      action?: string
      /** Only rows of this time or later */
      from?: string
      /** Only rows before this time */
      to?: string
      /** csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson` */
      format?: "json" | "csv" | "ndjson"
    }, options?: RequestOptions): PagedList<AuditEntry>
  }
  budgets: {
    /** POST /v1/budgets: Create a budget for the operations of a project or of one connection */
    create(body: NewBudget, options?: RequestOptions): Promise<ShownBudget>
    /** GET /v1/budgets: List budgets with their usage, newest first */
    list(query?: Paging & { project_id?: string; connection_id?: string }, options?: RequestOptions): PagedList<ShownBudget>
    /** GET /v1/budgets/{id}: Get a budget with what is used, reserved and left in the current period */
    get(id: string, options?: RequestOptions): Promise<ShownBudget>
    /** PATCH /v1/budgets/{id}: Change the name or the cap of a budget */
    change(id: string, body: {
      /** No control characters, line breaks, zero-width characters or marks of text direction */
      name?: string
      /** Minor units of the currency in each period */
      cap?: number
    }, options?: RequestOptions): Promise<ShownBudget>
    /** DELETE /v1/budgets/{id}: Delete a budget */
    delete(id: string, options?: RequestOptions): Promise<void>
  }
  completeness: {
    /** GET /v1/completeness: State whether every refund and cancellation of a period was read and judged */
    get(query?: {
      /** All connections of this project. Give this or connection_id */
      project_id?: string
      /** Only this connection */
      connection_id?: string
      /** A day (UTC), or a time whose day is included. Default: 30 days before `to` */
      from?: string
      /** A day (UTC) that is not included, or a time whose day is included unless it is midnight. Default: the end of today */
      to?: string
    }, options?: RequestOptions): Promise<Completeness>
    /** GET /v1/completeness/export: Export the statement of completeness in words, with a signature */
    export(query?: {
      /** All connections of this project. Give this or connection_id */
      project_id?: string
      /** Only this connection */
      connection_id?: string
      /** A day (UTC), or a time whose day is included. Default: 30 days before `to` */
      from?: string
      /** A day (UTC) that is not included, or a time whose day is included unless it is midnight. Default: the end of today */
      to?: string
    }, options?: RequestOptions): Promise<{
      statement: {
        title: string
        project: string
        period: string
        made: string
        outages: string[]
        accounts: {
          account: string
          answer: string
          facts: { label: string; value: string }[]
          interruptions: string[]
          limits: string[]
          money: { category: string; kind: string; mode: string; number: string; sum: string }[]
        }[]
      }
      /** The key of SECRET_KEYS that the key pair is derived from */
      key_id: string
      /** Ed25519 over the JSON of `statement` with sorted keys, in base64url */
      signature: string
    }>
  }
  connections: {
    /** POST /v1/projects/{id}/connections: Connect a billing account */
    create(id: string, body: NewConnection, options?: RequestOptions): Promise<CreatedConnection>
    /** GET /v1/projects/{id}/connections: List the connections of a project, newest first */
    list(id: string, query?: Paging, options?: RequestOptions): PagedList<Connection>
    /** GET /v1/projects/{id}/connections/{connection_id}: Get a connection */
    get(id: string, connection_id: string, options?: RequestOptions): Promise<Connection>
    /** PATCH /v1/projects/{id}/connections/{connection_id}: Change the settings of a connection */
    change(id: string, connection_id: string, body: ConnectionPatch, options?: RequestOptions): Promise<Connection>
    /** DELETE /v1/projects/{id}/connections/{connection_id}: Disconnect a billing account */
    delete(id: string, connection_id: string, options?: RequestOptions): Promise<void>
    /** POST /v1/projects/{id}/connections/{connection_id}/rotate-secret: Rotate the secret that authenticates notifications */
    rotateSecret(id: string, connection_id: string, body?: SecretRotation, options?: RequestOptions): Promise<CreatedConnection>
    /** GET /v1/projects/{id}/connections/{connection_id}/dry-run: Show what would have alerted by other settings */
    dryRun(id: string, connection_id: string, query?: {
      /** Tries the setting for this connected account. Default: for all accounts without a setting of their own */
      account?: string
      /** The setting to try. Default: that of the connection */
      out_of_band?: "auto" | "alert" | "ignore"
      /** The hours to try for REFUNDED_TWICE. Default: those of the connection; if it has none, none is counted */
      refunded_twice_within_hours?: number
      /** Default: 7 days before `to` */
      from?: string
      /** Excluded. Default: now */
      to?: string
    }, options?: RequestOptions): Promise<SettingDryRun>
  }
  deadLetters: {
    /** GET /v1/dead-letters: List everything that could not be used, newest first */
    list(query?: Paging & {
      project_id?: string
      kind?: "notification" | "provider_object" | "operation" | "recheck" | "reread" | "readback" | "command" | "incident" | "alert" | "delivery" | "unknown"
      /** Only dead letters of this time or later */
      from?: string
      /** Only dead letters before this time */
      to?: string
    }, options?: RequestOptions): PagedList<DeadLetter>
    /** POST /v1/dead-letters/{id}/replay: Replay a dead letter */
    replay(id: string, options?: RequestOptions): Promise<DeadLetter>
    /** POST /v1/dead-letters/replay: Replay the dead letters that a filter selects */
    replayAll(body?: SelectDeadLetters, options?: RequestOptions): Promise<ReplayedDeadLetters>
    /** POST /v1/dead-letters/dismiss: Dismiss the dead letters that a filter selects */
    dismissAll(body?: SelectDeadLetters, options?: RequestOptions): Promise<DismissedDeadLetters>
    /** POST /v1/dead-letters/{id}/dismiss: Dismiss a dead letter */
    dismiss(id: string, options?: RequestOptions): Promise<DeadLetter>
  }
  deliveries: {
    /** GET /v1/deliveries: List deliveries, newest first */
    list(query?: Paging & {
      project_id?: string
      channel_id?: string
      alert_id?: string
      /** Only deliveries of alerts about this incident */
      incident_id?: string
      /** Only deliveries of reports about this storm */
      storm_id?: string
      event?: "run.failed" | "incident.opened" | "drift.detected" | "cap.threshold" | "approval.requested" | "approval.reminder" | "approval.expired" | "incident.resolved" | "incident.acknowledged"
      state?: "pending" | "delivered" | "retrying" | "dead" | "superseded"
      /** true: only tests of channels; otherwise only deliveries of alerts */
      test?: "true" | "false"
      /** Only deliveries that were created at this time or later */
      from?: string
      /** Only deliveries that were created before this time */
      to?: string
      /** csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson` */
      format?: "json" | "csv" | "ndjson"
    }, options?: RequestOptions): PagedList<Delivery>
    /** GET /v1/deliveries/{id}: Get a delivery with its attempts */
    get(id: string, options?: RequestOptions): Promise<Delivery>
    /** POST /v1/deliveries/{id}/retry: Attempt a delivery now */
    retry(id: string, options?: RequestOptions): Promise<Delivery>
  }
  expectedChanges: {
    /** POST /v1/expected-changes: Create an expected change: refunds or cancellations that no operation reports */
    create(body: NewExpectedChange, options?: RequestOptions): Promise<ExpectedChange>
    /** GET /v1/expected-changes: List expected changes, newest first, including expired and deleted ones */
    list(query?: Paging & { project_id?: string }, options?: RequestOptions): PagedList<ExpectedChange>
    /** GET /v1/expected-changes/{id}: Get an expected change with what it covers so far */
    get(id: string, options?: RequestOptions): Promise<ExpectedChange>
    /** DELETE /v1/expected-changes/{id}: Delete an expected change */
    delete(id: string, options?: RequestOptions): Promise<void>
    /** GET /v1/expected-changes/{id}/uses: List the changes that an expected change covers, those of the newest period first */
    listUses(id: string, query?: Paging, options?: RequestOptions): PagedList<{
      action_id: string
      /** The first day (UTC) of the period that it counts in; null if the limits apply in total */
      period_start: string | null
      /** Minor units that it counts; 0 if no money moved */
      amount: number
      currency: string | null
      /** Payment or subscription id; null if the action is not listed any more */
      subject: string | null
      provider_ref: string | null
      provider_created_at: string | null
    }>
  }
  inbox: {
    /** GET /v1/inbox: List notifications with their outcome, newest first */
    list(query?: Paging & {
      project_id?: string
      connection_id?: string
      outcome?: "recorded" | "ignored" | "held" | "hinted" | "parked"
      /** Only notifications that this replay decided again */
      replay_id?: string
    }, options?: RequestOptions): PagedList<InboxEntry>
    /** GET /v1/inbox/{connection_id}/{event_id}: Get a notification with its body */
    getEntry(connection_id: string, event_id: string, options?: RequestOptions): Promise<InboxEntryWithBody>
    /** POST /v1/inbox/{connection_id}/{event_id}/replay: Replay a notification */
    replayEntry(connection_id: string, event_id: string, options?: RequestOptions): Promise<InboxReplay>
  }
  inboxReplays: {
    /** POST /v1/inbox-replays: Replay the notifications of a connection in a window */
    create(body: NewInboxReplay, options?: RequestOptions): Promise<InboxReplay>
    /** GET /v1/inbox-replays: List replays of notifications, newest first */
    list(query?: Paging & { project_id?: string; connection_id?: string }, options?: RequestOptions): PagedList<InboxReplay>
    /** GET /v1/inbox-replays/{id}: Get the progress of a replay of notifications */
    get(id: string, options?: RequestOptions): Promise<InboxReplay>
  }
  incidentBulks: {
    /** GET /v1/incident-bulks/{id}: Get the progress of a bulk change */
    get(id: string, options?: RequestOptions): Promise<IncidentBulk>
  }
  incidents: {
    /** POST /v1/incidents/bulk: Change many incidents, or count what would change */
    change(body: {
      project_id: string
      filter: {
        connection_id?: string
        code?: "UNEXPECTED_ACTION" | "CHANNEL_DISABLED" | "CHANNEL_FAILING" | "REFUND_REJECTED" | "REFUNDED_TWICE" | "UNEXPLAINED_BURST" | "CANARY_USED" | "VERIFICATION_UNAVAILABLE" | "FEED_SILENT" | "KEY_EXPIRING" | "KEY_RECOVERED"
        /** The state before the change; if omitted, every state that allows it */
        state?: "open" | "acknowledged" | "resolved"
        opened_from?: string
        /** Exclusive; if omitted, the time of the request */
        opened_to?: string
      }
      change: { kind: "acknowledge" } | { kind: "assign"; assignee: string | null } | {
        kind: "resolve"
        reason: "our_own_change" | "fraud_or_leaked_key" | "provider_mistake" | "duplicate" | "other"
        note?: string
      } | { kind: "reopen" } | { kind: "comment"; text: string }
      /** Only counts the incidents, and changes nothing */
      dry_run?: boolean
    }, options?: RequestOptions): Promise<{
      dry_run: true
      /** The end of the filter. The change is about the counted incidents only if its filter has it */
      opened_to: string
      count: number
      /** False if there are more than 10,000; then only the newest are counted */
      is_complete: boolean
      /** Minor units */
      money: { currency: string; amount: number; count: number }[]
      /** The newest 20 */
      incidents: Incident[]
    } | IncidentBulk>
    /** GET /v1/incidents: List incidents, newest first */
    list(query?: Paging & {
      project_id?: string
      connection_id?: string
      /** Only this connected account of the card processor */
      account?: string
      state?: "open" | "acknowledged" | "resolved"
      code?: "UNEXPECTED_ACTION" | "CHANNEL_DISABLED" | "CHANNEL_FAILING" | "REFUND_REJECTED" | "REFUNDED_TWICE" | "UNEXPLAINED_BURST" | "CANARY_USED" | "VERIFICATION_UNAVAILABLE" | "FEED_SILENT" | "KEY_EXPIRING" | "KEY_RECOVERED"
      /** Only incidents of this storm */
      storm_id?: string
      /** Only incidents about actions of this actor */
      actor_id?: string
      /** Only this customer, by the id that its provider gives it. Needs `project_id`, and `connection_id` if accounts of the project give the same ids */
      customer_id?: string
      /** Only the incident with this id, or incidents whose refund or cancellation has an id, customer or amount that begins with this text, as in `GET /v1/search`. Needs `project_id`. At most 500 are found: give more of the text then */
      q?: string
      /** true: of each storm only its newest incident that fits, with `storm`. Not with `storm_id`, `q` or `customer_id` */
      fold_storms?: "true" | "false"
      /** Only incidents that were opened at this time or later */
      from?: string
      /** Only incidents that were opened before this time */
      to?: string
      /** csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson` */
      format?: "json" | "csv" | "ndjson"
    }, options?: RequestOptions): PagedList<ListedIncident>
    /** GET /v1/incidents/{id}: Get an incident with its action, timeline and deliveries */
    get(id: string, options?: RequestOptions): Promise<IncidentWithTimeline>
    /** POST /v1/incidents/{id}/acknowledge: Acknowledge an incident: somebody works on it */
    acknowledge(id: string, options?: RequestOptions): Promise<Incident | StormOverview>
    /** POST /v1/incidents/{id}/assign: Assign an incident to a person or team */
    assign(id: string, body: {
      /** A person or team; null removes the assignee */
      assignee: string | null
    }, options?: RequestOptions): Promise<Incident | StormOverview>
    /** POST /v1/incidents/{id}/resolve: Resolve an incident with a reason */
    resolve(id: string, body: {
      /** our_own_change also explains the action, so that its verdict becomes `explained` */
      reason: "our_own_change" | "fraud_or_leaked_key" | "provider_mistake" | "duplicate" | "other"
      /** Shown in the timeline and in incident.resolved */
      note?: string
      /** Changes nothing: the reason our_own_change always explains the action. Accepted for older programs */
      explain?: { kind: "expected_change" }
    }, options?: RequestOptions): Promise<Incident | StormOverview>
    /** POST /v1/incidents/{id}/reopen: Open a resolved incident again */
    reopen(id: string, options?: RequestOptions): Promise<Incident | StormOverview>
    /** POST /v1/incidents/{id}/comments: Comment on an incident */
    comment(id: string, body: { text: string }, options?: RequestOptions): Promise<Incident | StormOverview>
  }
  installation: {
    /** GET /v1/installation: Count the work of all services that waits */
    get(options?: RequestOptions): Promise<{
      /** Actions without a verdict */
      verdicts: {
        /** Counted up to 10,000 */
        count: number
        /** The age of the oldest; 0 if nothing waits */
        oldest_seconds: number
        /** Actions whose second look was due over 10 seconds ago, without those that wait for a provider */
        overdue: number
        /** Actions whose second look was due, and whose provider has not answered */
        waiting_for_provider: number
      }
      /** Deliveries that wait. The age leaves out those that are held on purpose */
      deliveries: {
        pending: {
          /** Counted up to 10,000 */
          count: number
          /** The age of the oldest; 0 if nothing waits */
          oldest_seconds: number
        }
        retrying: {
          /** Counted up to 10,000 */
          count: number
          /** The age of the oldest; 0 if nothing waits */
          oldest_seconds: number
        }
      }
      /** Documents with messages that are not published to Kafka yet */
      messages: {
        /** Counted up to 10,000 */
        count: number
        /** The age of the oldest; 0 if nothing waits */
        oldest_seconds: number
      }
      /** Reading the providers */
      providers: {
        /** Connections whose provider refuses the read key */
        key_rejected: number
        /** Connections whose provider cannot be read, for this or another reason */
        unreadable: number
        /** Connections whose provider lists events that did not arrive */
        silent: number
        /** The longest time since a connection was read successfully */
        sweep_age_seconds: number
      }
    }>
  }
  live: {
    /** GET /v1/live: Stream changes as Server-Sent Events */
    streamEvents(query?: {
      /** Only events of this project. Default: every project of the key */
      project_id?: string
      /** The id to resume after, for clients that cannot send `Last-Event-ID`. The header has precedence */
      last_event_id?: string
    }, options?: RequestOptions): Promise<Response>
  }
  me: {
    /** GET /v1/me: Show which key or person makes this request, and what it may do */
    get(options?: RequestOptions): Promise<{
      kind: "key" | "person"
      id: string
      name: string
      /** null if the request was made with an API key */
      session_id: string | null
      grants: ({
        /** null: all projects */
        project_id: string | null
        scopes: ("admin" | "manage" | "incidents:write" | "operations:write" | "approvals:write" | "read")[]
      })[]
    }>
  }
  operations: {
    /** POST /v1/operations: Report a refund or cancellation that your software requests or makes */
    create(body: NewOperation, options?: RequestOptions): Promise<ShownOperation>
    /** GET /v1/operations: List operations, newest first */
    list(query?: Paging & {
      project_id?: string
      connection_id?: string
      kind?: "refund" | "cancellation"
      state?: "requested" | "approval_pending" | "approved" | "declined" | "expired" | "executing" | "awaiting_review" | "completed" | "failed" | "rejected"
      subject?: string
      /** The provider's id of the refund or cancellation */
      provider_ref?: string
      run_id?: string
      currency?: string
      /** Minor units, inclusive; give currency too, or amounts of all currencies are compared */
      min_amount?: number
      /** Minor units, inclusive */
      max_amount?: number
      /** Only operations that were reported at this time or later */
      from?: string
      /** Only operations that were reported before this time */
      to?: string
      /** csv and ndjson: the whole list as a stream, from `cursor` on; the same as `Accept: text/csv` and `application/x-ndjson` */
      format?: "json" | "csv" | "ndjson"
    }, options?: RequestOptions): PagedList<ShownOperation>
    /** POST /v1/operations/{id}/transitions: Report the next state of an operation */
    transition(id: string, body: NewTransition, options?: RequestOptions): Promise<ShownOperation>
    /** POST /v1/operations/batch: Report up to 1,000 operations and transitions at once */
    batch(body: OperationBatch, options?: RequestOptions): Promise<OperationBatchResults>
    /** GET /v1/operations/{id}: Get an operation */
    get(id: string, options?: RequestOptions): Promise<NamedOperation>
    /** POST /v1/operations/{id}/approve: Approve an operation that waits for approval */
    approve(id: string, body?: ApprovalDecision, options?: RequestOptions): Promise<ShownOperation>
    /** POST /v1/operations/{id}/decline: Decline an operation that waits for approval */
    decline(id: string, body?: ApprovalDecision, options?: RequestOptions): Promise<ShownOperation>
  }
  people: {
    /** POST /v1/people: Create a person who signs in by link */
    createPerson(body: NewPerson, options?: RequestOptions): Promise<Person>
    /** GET /v1/people: List people with their roles, newest first */
    list(query?: Paging & {
      /** Only people with a role in this project, also by a role in all projects */
      project_id?: string
    }, options?: RequestOptions): PagedList<Person>
    /** GET /v1/people/{id}: Get a person */
    getPerson(id: string, options?: RequestOptions): Promise<Person>
    /** PATCH /v1/people/{id}: Change the roles or the name of a person, or disable the person */
    changePerson(id: string, body: PersonPatch, options?: RequestOptions): Promise<Person>
    /** DELETE /v1/people/{id}: Remove a person and end all sessions of the person */
    removePerson(id: string, options?: RequestOptions): Promise<void>
  }
  personErasures: {
    /** POST /v1/projects/{id}/person-erasures: Erase the personal data of one customer */
    create(id: string, body: NewPersonErasure, options?: RequestOptions): Promise<PersonErasure>
    /** GET /v1/projects/{id}/person-erasures: List the erasures of customers of a project, newest first */
    list(id: string, query?: Paging, options?: RequestOptions): PagedList<PersonErasure>
    /** GET /v1/projects/{id}/person-erasures/{erasure_id}: Get the progress of the erasure of a customer */
    get(id: string, erasure_id: string, options?: RequestOptions): Promise<PersonErasure>
  }
  previews: {
    /** GET /v1/previews: Preview a message as its recipient gets it */
    previewMessage(query?: {
      project_id?: string
      /** digest: many alerts in one message of slack or email */
      event?: "incident.opened" | "incident.resolved" | "incident.acknowledged" | "drift.detected" | "approval.requested" | "approval.reminder" | "approval.expired" | "cap.threshold" | "run.failed" | "storm.reported" | "channel.test" | "digest"
      kind?: "slack" | "email" | "webhook" | "pagerduty" | "teams" | "discord"
      /** html: a page that shows the message (the default, except for webhooks); text: plain text; json: the message as it is sent */
      format?: "html" | "text" | "json"
      /** email: JSON that is used instead of the `branding` of the project, for a look that is not saved yet */
      branding?: string
      /** false: the message of a channel that shows no personal data */
      shows_personal_data?: "true" | "false"
      /** webhook: the `template` of a channel, also one that is not saved yet */
      template?: string
    }, options?: RequestOptions): Promise<{ subject: string; text: string; html: string } | { text: string; blocks: Record<string, unknown>[] } | { id: string; event: string; created_at: string; project_id: string; data: unknown } | Record<string, unknown>>
  }
  processes: {
    /** GET /v1/processes: List the processes of all services, and why they are not ready */
    get(options?: RequestOptions): Promise<{
      /** In the order of the services, newest first */
      processes: ({
        /** The name of its host, and 8 digits that are others after each start */
        process_id: string
        service: "ingress" | "reconciler" | "notifier" | "admin-api"
        /** The release with the commit */
        version: string
        started_at: string
        /** The last report. A process reports every 16 seconds and when its readiness changes */
        reported_at: string
        /** `silent`: it has not reported for a minute. `replaced`: it is silent, and another process of its service has started since. A silent process is removed from the list ten minutes after its last report */
        state: "ready" | "not_ready" | "silent" | "replaced"
        /** Why it was not ready at its last report; null if it was */
        unready: string | null
        /** The keys of its SECRET_KEYS. Equal keys have equal fingerprints in all processes */
        keys: { key_id: string; fingerprint: string }[]
        /** How far the clock of its host is ahead of that of MongoDB; null before the first comparison */
        clock_ahead_ms: number | null
      })[]
    }>
  }
  projects: {
    /** POST /v1/projects: Create a project */
    create(body: NewProject, options?: RequestOptions): Promise<Project>
    /** GET /v1/projects: List projects, newest first */
    list(query?: Paging & {
      /** true: only archived projects; otherwise only active ones */
      archived?: "true" | "false"
    }, options?: RequestOptions): PagedList<Project>
    /** GET /v1/projects/{id}: Get a project */
    get(id: string, options?: RequestOptions): Promise<Project>
    /** PATCH /v1/projects/{id}: Change, archive or restore a project */
    change(id: string, body: ProjectPatch, options?: RequestOptions): Promise<Project>
    /** DELETE /v1/projects/{id}: Remove a demo project */
    removeDemo(id: string, options?: RequestOptions): Promise<void>
    /** GET /v1/projects/{id}/unresolved: Count what waits for a person or for a second look */
    getUnresolved(id: string, options?: RequestOptions): Promise<{
      /** Open incidents */
      open: number
      /** Acknowledged incidents */
      acknowledged: number
      /** When the oldest of these incidents opened; null if there is none */
      since: string | null
      /** The unexplained refunds of these incidents, without those that moved no money in the end. Live money first */
      money: ({
        currency: string
        mode: "live" | "test" | null
        /** The sum in minor units */
        amount: number
        /** The refunds in the sum */
        count: number
      })[]
      /** Refunds and cancellations that nothing explains so far, and whose second look is not done */
      being_checked: number
      /** Operations that wait for an approval */
      approvals_pending: number
    }>
    /** GET /v1/projects/{id}/archive: Export the oldest explained actions of a project, as NDJSON with a signature */
    exportArchive(id: string, query?: {
      /** Only actions that were first recorded before this month */
      before?: string
      /** `next_cursor` of the part before */
      cursor?: string
    }, options?: RequestOptions): Promise<Response>
    /** POST /v1/projects/{id}/archive: Remove the actions of a stored part of an archive */
    removeArchived(id: string, body: {
      /** The last line of the part */
      statement: {
        /** The same for the same lines */
        archive_id: string
        project_id: string
        /** When the actions were first recorded, in UTC; null without actions */
        month: string | null
        /** The number of lines before */
        actions: number
        exported_at: string
        /** SHA-256 of the lines before, in hex */
        sha256: string
        /** SHA-256 of the ids and versions of these actions, in hex */
        versions_sha256: string
      }
      signature: string
      /** The actions of the part, in its order */
      actions: { action_id: string; version: number }[]
    }, options?: RequestOptions): Promise<{
      /** Actions of the part that are removed */
      removed: number
      /** Actions that will be removed: ask again until there are none */
      waiting: number
      /** Actions that changed since the part was read. They stay, and are part of a later one */
      changed: number
    }>
  }
  replays: {
    /** POST /v1/replays: Replay the dead and retrying deliveries of a channel */
    create(body: NewReplay, options?: RequestOptions): Promise<Replay>
    /** GET /v1/replays: List replays, newest first */
    list(query?: Paging & { project_id?: string; channel_id?: string }, options?: RequestOptions): PagedList<Replay>
    /** GET /v1/replays/{id}: Get the progress of a replay */
    get(id: string, options?: RequestOptions): Promise<Replay>
  }
  runs: {
    /** POST /v1/runs/{id}/failed: Report that a run of your software failed */
    fail(id: string, body?: {
      /** Default: the project of the key, or else the only project whose operations name the run */
      project_id?: string
      /** For people: what went wrong */
      reason?: string | null
      /** When the run failed; default: the time of this report */
      failed_at?: string | null
    }, options?: RequestOptions): Promise<FailedRun>
    /** GET /v1/runs: List failed runs, newest first */
    list(query?: Paging & { project_id?: string }, options?: RequestOptions): PagedList<FailedRun>
    /** GET /v1/runs/{id}: Get a run with its operations */
    get(id: string, query?: {
      /** Needed if several projects use the same run_id */
      project_id?: string
    }, options?: RequestOptions): Promise<RunWithOperations>
  }
  search: {
    /** GET /v1/search: Search a project by ids, customer, actor, amount, idempotency key or run */
    search(query: Paging & {
      /** Required if the key works for every project */
      project_id?: string
      /** An id of Backstop, or the beginning of an id of a provider, the name of a customer or an actor, an e-mail address, an amount, an idempotency key or a run */
      q: string
    }, options?: RequestOptions): PagedList<{
      type: "action" | "incident" | "delivery" | "connection" | "channel" | "operation" | "run" | "actor" | "customer"
      id: string
      /** One line for people to read */
      title: string
      project_id: string
      connection_id: string | null
      /** When it was first recorded */
      at: string | null
    }>
  }
  secretKeys: {
    /** GET /v1/secret-keys: Count the stored secrets by the key that encrypts them */
    get(options?: RequestOptions): Promise<{
      /** Encrypts new secrets: the first key of SECRET_KEYS */
      primary_key_id: string
      /** The keys of all stored secrets. A key that is not listed, and is not the primary key, may be removed */
      keys: {
        key_id: string
        /** The number of stored secrets that this key encrypts */
        secrets: number
        /** False if SECRET_KEYS lacks the key: its secrets cannot be read */
        available: boolean
      }[]
    }>
    /** POST /v1/secret-keys/rewrap: Encrypt stored secrets with the primary key */
    rewrapSecrets(options?: RequestOptions): Promise<{
      /** The number of connections and channels that this call changed */
      rewrapped: number
      /** The number that still has secrets of other keys. Call again until it is 0 */
      remaining: number
      /** Skipped, because a secret cannot be read */
      unreadable: ({ kind: "connection" | "channel"; id: string; reason: string })[]
    }>
  }
  sessions: {
    /** POST /v1/sessions: Sign a browser in with an API key or the token of a sign-in link */
    signIn(body: {
      /** An API key */
      key: string
    } | {
      /** The token of a sign-in link */
      token: string
    }, options?: RequestOptions): Promise<Session>
    /** GET /v1/sessions: List sessions, also ended ones, newest first */
    list(query?: Paging, options?: RequestOptions): PagedList<Session>
    /** DELETE /v1/sessions/{id}: Sign out, or end another session */
    end(id: string, options?: RequestOptions): Promise<void>
  }
  signIn: {
    /** GET /v1/sign-in/oidc: Sign a person in with OpenID Connect */
    startOidc(query?: {
      /** The path to open after the sign-in; if omitted, the path of PUBLIC_URL */
      return_to?: string
    }, options?: RequestOptions): Promise<void>
    /** GET /v1/sign-in/oidc/callback: Finish a sign-in with OpenID Connect */
    finishOidc(query?: { code?: string; state?: string; iss?: string; error?: string }, options?: RequestOptions): Promise<void>
  }
  signInLinks: {
    /** POST /v1/sign-in-links: Create a link that signs a browser in once, within 5 minutes */
    create(body?: {
      /** Who signs in; if omitted, the caller */
      person_id?: string
    }, options?: RequestOptions): Promise<{
      /** Opens the console signed in, once: shown once */
      url?: string
      /** For POST /v1/sessions, once: shown once */
      token?: string
      expires_at: string
    }>
  }
  silences: {
    /** POST /v1/silences: Silence a connection for a time */
    create(body: NewSilence, options?: RequestOptions): Promise<Silence>
    /** GET /v1/silences: List silences of connections, newest first, including ended ones */
    list(query?: Paging & { project_id?: string; connection_id?: string }, options?: RequestOptions): PagedList<Silence>
    /** GET /v1/silences/{id}: Get a silence */
    get(id: string, options?: RequestOptions): Promise<Silence>
    /** DELETE /v1/silences/{id}: End a silence now */
    end(id: string, options?: RequestOptions): Promise<void>
  }
  statements: {
    /** GET /v1/statements: Get the statement of a connection or project for a month or another period */
    get(query?: {
      /** The statement of one connection. Give either this or project_id */
      connection_id?: string
      /** In place of connection_id: the statement of all connections of a project */
      project_id?: string
      /** The month in UTC. Give either this, or from and to */
      month?: string
      /** The first day (UTC) of another period, for example a quarter */
      from?: string
      /** The day (UTC) after its last day; 400 days later at most */
      to?: string
      format?: "json" | "csv"
      /** The lines of CSV. JSON has both */
      by?: "category" | "actor"
    }, options?: RequestOptions): Promise<Statement>
  }
  stats: {
    /** GET /v1/stats: Count actions by verdict, kind, currency and mode */
    get(query?: {
      project_id?: string
      connection_id?: string
      /** Only this connected account of the card processor */
      account?: string
      /** Only what this actor made */
      actor_id?: string
      /** Only this customer, by the id that its provider gives it. Needs `project_id`, and `connection_id` if accounts of the project give the same ids */
      customer_id?: string
      /** A day (UTC), or a time whose day is counted. Default: 30 days before `to` */
      from?: string
      /** A day (UTC) that is not counted, or a time whose day is counted unless it is midnight. Default: the end of today */
      to?: string
      /** The interval of `series`. Weeks begin on Monday */
      interval?: "day" | "week" | "month"
    }, options?: RequestOptions): Promise<Stats>
  }
  storms: {
    /** GET /v1/storms: List storms of unexplained actions, newest first */
    list(query?: Paging & { project_id?: string; connection_id?: string }, options?: RequestOptions): PagedList<StormOverview>
    /** GET /v1/storms/{id}: Get a storm with its incidents counted and the deliveries of its reports */
    get(id: string, options?: RequestOptions): Promise<StormWithSteps>
  }
  suppressions: {
    /** GET /v1/suppressions: List suppressed addresses, newest first */
    list(query?: Paging & { project_id?: string }, options?: RequestOptions): PagedList<Suppression>
    /** POST /v1/suppressions: Suppress an address: send it no more mail of the project */
    create(body: NewSuppression, options?: RequestOptions): Promise<Suppression>
    /** DELETE /v1/suppressions/{address}: Remove the suppression of an address */
    delete(address: string, query: { project_id: string }, options?: RequestOptions): Promise<void>
  }
}

/** Method, path, input after the path parameters, and form of the answer of each call. */
export const CALLS = {
  actions: {
    list: ['GET', '/v1/actions', 'query', 'page'],
    get: ['GET', '/v1/actions/{id}', 'none', 'json'],
  },
  actors: {
    list: ['GET', '/v1/projects/{id}/actors', 'query', 'page'],
    declare: ['POST', '/v1/projects/{id}/actors', 'body', 'json'],
    get: ['GET', '/v1/projects/{id}/actors/{actor_id}', 'none', 'json'],
    name: ['PATCH', '/v1/projects/{id}/actors/{actor_id}', 'body', 'json'],
    forget: ['DELETE', '/v1/projects/{id}/actors/{actor_id}', 'none', 'nothing'],
  },
  alertChannels: {
    list: ['GET', '/v1/alert-channels', 'query', 'page'],
    create: ['POST', '/v1/alert-channels', 'body', 'json'],
    get: ['GET', '/v1/alert-channels/{id}', 'none', 'json'],
    change: ['PATCH', '/v1/alert-channels/{id}', 'body', 'json'],
    delete: ['DELETE', '/v1/alert-channels/{id}', 'none', 'nothing'],
    rotateSecret: ['POST', '/v1/alert-channels/{id}/rotate-secret', 'body', 'json'],
    test: ['POST', '/v1/alert-channels/{id}/test', 'none', 'json'],
  },
  apiKeys: {
    create: ['POST', '/v1/api-keys', 'body', 'json'],
    list: ['GET', '/v1/api-keys', 'query', 'page'],
    get: ['GET', '/v1/api-keys/{id}', 'none', 'json'],
    change: ['PATCH', '/v1/api-keys/{id}', 'body', 'json'],
    revoke: ['DELETE', '/v1/api-keys/{id}', 'none', 'nothing'],
    rotate: ['POST', '/v1/api-keys/{id}/rotate', 'body', 'json'],
  },
  audit: {
    verify: ['GET', '/v1/audit/verify', 'query', 'json'],
    export: ['GET', '/v1/audit/export', 'none', 'stream'],
    getPublicKeys: ['GET', '/v1/audit/public-keys', 'none', 'json'],
    list: ['GET', '/v1/audit', 'query', 'page'],
  },
  budgets: {
    create: ['POST', '/v1/budgets', 'body', 'json'],
    list: ['GET', '/v1/budgets', 'query', 'page'],
    get: ['GET', '/v1/budgets/{id}', 'none', 'json'],
    change: ['PATCH', '/v1/budgets/{id}', 'body', 'json'],
    delete: ['DELETE', '/v1/budgets/{id}', 'none', 'nothing'],
  },
  completeness: {
    get: ['GET', '/v1/completeness', 'query', 'json'],
    export: ['GET', '/v1/completeness/export', 'query', 'json'],
  },
  connections: {
    create: ['POST', '/v1/projects/{id}/connections', 'body', 'json'],
    list: ['GET', '/v1/projects/{id}/connections', 'query', 'page'],
    get: ['GET', '/v1/projects/{id}/connections/{connection_id}', 'none', 'json'],
    change: ['PATCH', '/v1/projects/{id}/connections/{connection_id}', 'body', 'json'],
    delete: ['DELETE', '/v1/projects/{id}/connections/{connection_id}', 'none', 'nothing'],
    rotateSecret: ['POST', '/v1/projects/{id}/connections/{connection_id}/rotate-secret', 'body', 'json'],
    dryRun: ['GET', '/v1/projects/{id}/connections/{connection_id}/dry-run', 'query', 'json'],
  },
  deadLetters: {
    list: ['GET', '/v1/dead-letters', 'query', 'page'],
    replay: ['POST', '/v1/dead-letters/{id}/replay', 'none', 'json'],
    replayAll: ['POST', '/v1/dead-letters/replay', 'body', 'json'],
    dismissAll: ['POST', '/v1/dead-letters/dismiss', 'body', 'json'],
    dismiss: ['POST', '/v1/dead-letters/{id}/dismiss', 'none', 'json'],
  },
  deliveries: {
    list: ['GET', '/v1/deliveries', 'query', 'page'],
    get: ['GET', '/v1/deliveries/{id}', 'none', 'json'],
    retry: ['POST', '/v1/deliveries/{id}/retry', 'none', 'json'],
  },
  expectedChanges: {
    create: ['POST', '/v1/expected-changes', 'body', 'json'],
    list: ['GET', '/v1/expected-changes', 'query', 'page'],
    get: ['GET', '/v1/expected-changes/{id}', 'none', 'json'],
    delete: ['DELETE', '/v1/expected-changes/{id}', 'none', 'nothing'],
    listUses: ['GET', '/v1/expected-changes/{id}/uses', 'query', 'page'],
  },
  inbox: {
    list: ['GET', '/v1/inbox', 'query', 'page'],
    getEntry: ['GET', '/v1/inbox/{connection_id}/{event_id}', 'none', 'json'],
    replayEntry: ['POST', '/v1/inbox/{connection_id}/{event_id}/replay', 'none', 'json'],
  },
  inboxReplays: {
    create: ['POST', '/v1/inbox-replays', 'body', 'json'],
    list: ['GET', '/v1/inbox-replays', 'query', 'page'],
    get: ['GET', '/v1/inbox-replays/{id}', 'none', 'json'],
  },
  incidentBulks: {
    get: ['GET', '/v1/incident-bulks/{id}', 'none', 'json'],
  },
  incidents: {
    change: ['POST', '/v1/incidents/bulk', 'body', 'json'],
    list: ['GET', '/v1/incidents', 'query', 'page'],
    get: ['GET', '/v1/incidents/{id}', 'none', 'json'],
    acknowledge: ['POST', '/v1/incidents/{id}/acknowledge', 'none', 'json'],
    assign: ['POST', '/v1/incidents/{id}/assign', 'body', 'json'],
    resolve: ['POST', '/v1/incidents/{id}/resolve', 'body', 'json'],
    reopen: ['POST', '/v1/incidents/{id}/reopen', 'none', 'json'],
    comment: ['POST', '/v1/incidents/{id}/comments', 'body', 'json'],
  },
  installation: {
    get: ['GET', '/v1/installation', 'none', 'json'],
  },
  live: {
    streamEvents: ['GET', '/v1/live', 'query', 'stream'],
  },
  me: {
    get: ['GET', '/v1/me', 'none', 'json'],
  },
  operations: {
    create: ['POST', '/v1/operations', 'body', 'json'],
    list: ['GET', '/v1/operations', 'query', 'page'],
    transition: ['POST', '/v1/operations/{id}/transitions', 'body', 'json'],
    batch: ['POST', '/v1/operations/batch', 'body', 'json'],
    get: ['GET', '/v1/operations/{id}', 'none', 'json'],
    approve: ['POST', '/v1/operations/{id}/approve', 'body', 'json'],
    decline: ['POST', '/v1/operations/{id}/decline', 'body', 'json'],
  },
  people: {
    createPerson: ['POST', '/v1/people', 'body', 'json'],
    list: ['GET', '/v1/people', 'query', 'page'],
    getPerson: ['GET', '/v1/people/{id}', 'none', 'json'],
    changePerson: ['PATCH', '/v1/people/{id}', 'body', 'json'],
    removePerson: ['DELETE', '/v1/people/{id}', 'none', 'nothing'],
  },
  personErasures: {
    create: ['POST', '/v1/projects/{id}/person-erasures', 'body', 'json'],
    list: ['GET', '/v1/projects/{id}/person-erasures', 'query', 'page'],
    get: ['GET', '/v1/projects/{id}/person-erasures/{erasure_id}', 'none', 'json'],
  },
  previews: {
    previewMessage: ['GET', '/v1/previews', 'query', 'json'],
  },
  processes: {
    get: ['GET', '/v1/processes', 'none', 'json'],
  },
  projects: {
    create: ['POST', '/v1/projects', 'body', 'json'],
    list: ['GET', '/v1/projects', 'query', 'page'],
    get: ['GET', '/v1/projects/{id}', 'none', 'json'],
    change: ['PATCH', '/v1/projects/{id}', 'body', 'json'],
    removeDemo: ['DELETE', '/v1/projects/{id}', 'none', 'nothing'],
    getUnresolved: ['GET', '/v1/projects/{id}/unresolved', 'none', 'json'],
    exportArchive: ['GET', '/v1/projects/{id}/archive', 'query', 'stream'],
    removeArchived: ['POST', '/v1/projects/{id}/archive', 'body', 'json'],
  },
  replays: {
    create: ['POST', '/v1/replays', 'body', 'json'],
    list: ['GET', '/v1/replays', 'query', 'page'],
    get: ['GET', '/v1/replays/{id}', 'none', 'json'],
  },
  runs: {
    fail: ['POST', '/v1/runs/{id}/failed', 'body', 'json'],
    list: ['GET', '/v1/runs', 'query', 'page'],
    get: ['GET', '/v1/runs/{id}', 'query', 'json'],
  },
  search: {
    search: ['GET', '/v1/search', 'query', 'page'],
  },
  secretKeys: {
    get: ['GET', '/v1/secret-keys', 'none', 'json'],
    rewrapSecrets: ['POST', '/v1/secret-keys/rewrap', 'none', 'json'],
  },
  sessions: {
    signIn: ['POST', '/v1/sessions', 'body', 'json'],
    list: ['GET', '/v1/sessions', 'query', 'page'],
    end: ['DELETE', '/v1/sessions/{id}', 'none', 'nothing'],
  },
  signIn: {
    startOidc: ['GET', '/v1/sign-in/oidc', 'query', 'nothing'],
    finishOidc: ['GET', '/v1/sign-in/oidc/callback', 'query', 'nothing'],
  },
  signInLinks: {
    create: ['POST', '/v1/sign-in-links', 'body', 'json'],
  },
  silences: {
    create: ['POST', '/v1/silences', 'body', 'json'],
    list: ['GET', '/v1/silences', 'query', 'page'],
    get: ['GET', '/v1/silences/{id}', 'none', 'json'],
    end: ['DELETE', '/v1/silences/{id}', 'none', 'nothing'],
  },
  statements: {
    get: ['GET', '/v1/statements', 'query', 'json'],
  },
  stats: {
    get: ['GET', '/v1/stats', 'query', 'json'],
  },
  storms: {
    list: ['GET', '/v1/storms', 'query', 'page'],
    get: ['GET', '/v1/storms/{id}', 'none', 'json'],
  },
  suppressions: {
    list: ['GET', '/v1/suppressions', 'query', 'page'],
    create: ['POST', '/v1/suppressions', 'body', 'json'],
    delete: ['DELETE', '/v1/suppressions/{address}', 'query', 'nothing'],
  },
} as const
