import { z } from 'zod'
import { Actor, IncidentSelection, LifeCycleChange } from '../actions/life-cycle.ts'
import { Timestamp } from '../actions/operation.ts'
import { InboxOutcome } from '../inbox-outcome.ts'
import { ArchivedVersion } from '../values/archived-version.ts'

/** Why an address gets no more mail from a project. */
export const SuppressionReason = z.enum(['unsubscribed', 'hard_bounce', 'soft_bounces', 'complaint', 'manual'])
export type SuppressionReason = z.infer<typeof SuppressionReason>

/**
 * How the incident of a failing channel ended. recovered: an alert arrived. cleared: the cause was removed, and nothing
 * was sent since. The others: no more alerts are sent there.
 */
export const ChannelIncidentEnd = z.enum(['recovered', 'cleared', 'disabled', 'switched_off', 'deleted'])
export type ChannelIncidentEnd = z.infer<typeof ChannelIncidentEnd>

const common = {
  /** Deterministic if the command is derived from stored data, so that a repeat is the same command. */
  command_id: z.string(),
  project_id: z.string(),
  requested_at: Timestamp,
}

/** A request to change data that another service owns. It is sent to the owner, keyed by its target. A repeat changes nothing. */
export const Command = z.discriminatedUnion('kind', [
  /** To the notifier: attempt this delivery now, before its next attempt is due. */
  z.object({ ...common, kind: z.literal('retry_delivery'), delivery_id: z.string() }),
  /** To the notifier: send the dead and retrying deliveries of this window again. The window is over created_at, and `to` is exclusive. */
  z.object({
    ...common,
    kind: z.literal('replay_deliveries'),
    replay_id: z.string(),
    channel_id: z.string(),
    from: Timestamp,
    to: Timestamp,
  }),
  /** To the notifier: enable the channel and reset its count of failures. */
  z.object({ ...common, kind: z.literal('enable_channel'), channel_id: z.string() }),
  /** To the notifier: send no more mail of this project to the address. */
  z.object({
    ...common,
    kind: z.literal('suppress_address'),
    address: z.string(),
    reason: SuppressionReason,
    /** The origin of the information, for people to read. */
    detail: z.string().nullable(),
  }),
  /** To the notifier: send mail of this project to the address again. */
  z.object({ ...common, kind: z.literal('unsuppress_address'), address: z.string() }),
  /** To the notifier: a mail provider reported a temporary bounce. Five within seven days suppress the address. */
  z.object({ ...common, kind: z.literal('soft_bounce'), address: z.string(), detail: z.string().nullable() }),
  /** To the notifier: erase the personal data in the alerts of deliveries, because the connection was deleted. */
  z.object({ ...common, kind: z.literal('erase_deliveries'), connection_id: z.string() }),
  /**
   * To the notifier: erase the personal data in the alerts of deliveries, because people asked to erase a customer. It names actions and ids, because
   * the topic keeps it longer than an e-mail address may be kept.
   */
  z.object({
    ...common,
    kind: z.literal('erase_person'),
    erasure_id: z.string(),
    /** The actions of the customer. */
    action_ids: z.array(z.string()),
    /** The customer's ids at the providers, for messages about many actions. Ids with an e-mail address are left out. */
    customer_ids: z.array(z.string()),
    /** True if no command of this erasure follows. */
    is_last: z.boolean(),
  }),
  /** To the notifier: these dead letters were sent again. A dead letter that failed again meanwhile has another `parked_at` and stays listed. */
  z.object({
    ...common,
    kind: z.literal('mark_replayed'),
    dead_letters: z.array(z.object({ dead_letter_id: z.string(), parked_at: Timestamp })),
  }),
  /** To the reconciler: open an incident, because a channel delivers nothing, or its failures disabled it. */
  z.object({
    ...common,
    kind: z.literal('open_channel_incident'),
    incident_id: z.string(),
    channel_id: z.string(),
    channel_name: z.string(),
    /** The cause and the remedy, for people to read. */
    reason: z.string(),
    /** failing: the channel is still tried. Absent means disabled. */
    fault: z.enum(['disabled', 'failing']).optional(),
  }),
  /** To the reconciler: resolve the incident of a channel. */
  z.object({
    ...common,
    kind: z.literal('resolve_channel_incident'),
    incident_id: z.string(),
    channel_id: z.string(),
    /** Why. Absent means that a person enabled the channel again. */
    outcome: ChannelIncidentEnd.optional(),
  }),
  /** To the reconciler: open an incident, because an API key expires soon. */
  z.object({
    ...common,
    kind: z.literal('open_key_incident'),
    incident_id: z.string(),
    key_id: z.string(),
    key_name: z.string(),
    expires_at: Timestamp,
  }),
  /** To the reconciler: open an incident, because somebody created an admin key with access to the database. */
  z.object({
    ...common,
    kind: z.literal('open_recovered_key_incident'),
    incident_id: z.string(),
    key_id: z.string(),
    /** Who created it, as that person or the operating system stated it. */
    operator: z.string(),
  }),
  /** To the reconciler: resolve the incident, because the key was rotated or revoked, or has expired. */
  z.object({
    ...common,
    kind: z.literal('resolve_key_incident'),
    incident_id: z.string(),
    key_id: z.string(),
    outcome: z.enum(['rotated', 'revoked', 'expired']),
  }),
  /** To the reconciler: record the outcome of an operation that the provider decided. */
  z.object({
    ...common,
    kind: z.literal('settle_operation'),
    operation_id: z.string(),
    to: z.enum(['completed', 'failed', 'rejected']),
    provider_ref: z.string().nullable(),
    /** The provider's object that shows the outcome, for people to read. */
    reason: z.string(),
  }),
  /** To the reconciler: the connection can be read now, so read its baseline and verify its held notifications. */
  z.object({ ...common, kind: z.literal('connection_ready'), connection_id: z.string() }),
  /** To the reconciler: a new expected change may cover actions with open incidents. */
  z.object({ ...common, kind: z.literal('apply_expected_change'), expected_change_id: z.string() }),
  /** To the reconciler: decide notifications of a connection again, from their stored bodies. */
  z.object({
    ...common,
    kind: z.literal('replay_inbox'),
    replay_id: z.string(),
    connection_id: z.string(),
    /** The events to replay; null for those of the window. */
    event_ids: z.array(z.string()).nullable(),
    /** The window is over received_at, and `to` is exclusive; null for named events. */
    from: Timestamp.nullable(),
    to: Timestamp.nullable(),
    /** Null for events with any outcome. */
    outcome: InboxOutcome.nullable(),
  }),
  /** To the reconciler: acknowledge, assign, resolve, reopen or comment on an incident. */
  z.object({
    ...common,
    kind: z.literal('change_incident'),
    incident_id: z.string(),
    change: LifeCycleChange,
    actor: Actor,
    /** The change is refused if the incident has another version. */
    expected_version: z.int().optional(),
  }),
  /** To the reconciler: change every incident that the selection finds. */
  z.object({
    ...common,
    kind: z.literal('change_incidents'),
    bulk_id: z.string(),
    selection: IncidentSelection,
    change: LifeCycleChange,
    actor: Actor,
  }),
  /** To the reconciler: an archive holds these versions of explained actions, so keep only what is counted of them. */
  z.object({
    ...common,
    kind: z.literal('archive_actions'),
    archive_id: z.string(),
    actions: z.array(ArchivedVersion),
  }),
])
export type Command = z.infer<typeof Command>
/** A kind of command. */
export type CommandKind = Command['kind']
