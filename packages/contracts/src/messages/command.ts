import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** Why an address gets no more mail of a project. */
export const SuppressionReason = z.enum(['unsubscribed', 'hard_bounce', 'soft_bounces', 'complaint', 'manual'])
export type SuppressionReason = z.infer<typeof SuppressionReason>

const common = {
  /** Deterministic where the wish follows from something stored, so that a repeat is the same command. */
  command_id: z.string(),
  project_id: z.string(),
  requested_at: Timestamp,
}

/**
 * A wish to change what another service owns (DESIGN, "Four services"): sent to its owner, keyed by its target. Doing it
 * twice changes nothing.
 */
export const Command = z.discriminatedUnion('kind', [
  /** To the notifier: attempt this delivery now, whatever the ladder says. */
  z.object({ ...common, kind: z.literal('retry_delivery'), delivery_id: z.string() }),
  /** To the notifier: attempt again what ended without success in this window (by created_at, `to` excluded). */
  z.object({
    ...common,
    kind: z.literal('replay_deliveries'),
    replay_id: z.string(),
    channel_id: z.string(),
    from: Timestamp,
    to: Timestamp,
  }),
  /** To the notifier: the channel works again; its failures are forgiven. */
  z.object({ ...common, kind: z.literal('enable_channel'), channel_id: z.string() }),
  /** To the notifier: no more mail of this project to the address, or mail again. */
  z.object({
    ...common,
    kind: z.literal('suppress_address'),
    address: z.string(),
    reason: SuppressionReason,
    /** For a person: where it is known from. */
    detail: z.string().nullable(),
  }),
  z.object({ ...common, kind: z.literal('unsuppress_address'), address: z.string() }),
  /** To the notifier: a provider reported a bounce that may pass. Five within seven days suppress the address. */
  z.object({ ...common, kind: z.literal('soft_bounce'), address: z.string(), detail: z.string().nullable() }),
  /** To the reconciler, which owns incidents: a channel was disabled by its failures. */
  z.object({
    ...common,
    kind: z.literal('open_channel_incident'),
    incident_id: z.string(),
    channel_id: z.string(),
    channel_name: z.string(),
    /** In words a person can act on. */
    reason: z.string(),
  }),
  /** To the reconciler: the channel works again. */
  z.object({ ...common, kind: z.literal('resolve_channel_incident'), incident_id: z.string(), channel_id: z.string() }),
  /** To the reconciler, which settles: what the provider decided about an operation. Repeating it changes nothing. */
  z.object({
    ...common,
    kind: z.literal('settle_operation'),
    operation_id: z.string(),
    to: z.enum(['completed', 'failed', 'rejected']),
    provider_ref: z.string().nullable(),
    /** For a person: which object of the provider says so. */
    reason: z.string(),
  }),
  /** To the reconciler: the connection can be read now, so its baseline and the hints that were held are to be read. */
  z.object({ ...common, kind: z.literal('connection_ready'), connection_id: z.string() }),
  /** To the reconciler: a new expected change may cover changes that people have open incidents about. */
  z.object({ ...common, kind: z.literal('apply_expected_change'), expected_change_id: z.string() }),
])
export type Command = z.infer<typeof Command>
export type CommandKind = Command['kind']
