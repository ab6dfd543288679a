/**
 * What `backstop dry-run` and the program of the reconciler that it starts say to each other: one request as a line of JSON on
 * standard input, then lines of JSON on standard output. Both have the same version, so nothing here needs to stay compatible,
 * except for the output of `backstop dry-run --json`: differences and the summary are printed as they are.
 */
import { z } from 'zod'
import { ActionKind, OutOfBand, ProviderKind } from './providers.ts'
import { Verdict, VerdictReason } from './verdict.ts'

/** The window of events and actions to replay, the settings to replay them with, and the database that has them. */
export const DryRunRequest = z.object({
  /** With its credentials. */
  mongo_url: z.string(),
  /** Authorities, client certificate and its key in PEM, as the settings have them. */
  mongo_ca: z.string().optional(),
  mongo_cert: z.string().optional(),
  mongo_key: z.string().optional(),
  database: z.string(),
  /** Milliseconds since the epoch. */
  from: z.int(),
  /** Milliseconds since the epoch, excluded. */
  to: z.int(),
  project_id: z.string().optional(),
  connection_id: z.string().optional(),
  /** For the connections of the window, in place of their own setting. */
  out_of_band: OutOfBand.optional(),
  recheck_delay_ms: z.int().min(0),
})
export type DryRunRequest = z.infer<typeof DryRunRequest>

/** Sent after each page of the database. */
export const DryRunProgress = z.object({
  /** Actions are compared first. Then events are read again that led to no action when they were processed. */
  walking: z.enum(['actions', 'events']),
  /** The time in the window that the replay has reached, in milliseconds since the epoch. */
  at: z.number(),
  compared: z.int(),
  different: z.int(),
})
export type DryRunProgress = z.infer<typeof DryRunProgress>

/**
 * The data that today's rules are applied to. events: the bodies of the events, read again. reading: the stored sightings of
 * re-reads and sweeps, because the answers of providers are not kept. expired: the stored sightings of events whose bodies are
 * no longer kept.
 */
export const DryRunBasis = z.enum(['events', 'reading', 'expired'])
export type DryRunBasis = z.infer<typeof DryRunBasis>

/** The verdict of an action, as the dry run shows it. */
export const ShownVerdict = z.object({
  verdict: Verdict,
  reason: VerdictReason,
  operation_id: z.string().nullable(),
  /** True if an alert was sent because nothing explained the action, even if its incident was resolved later. */
  alerted: z.boolean(),
  /** One sentence for a person. */
  rule: z.string(),
})
export type ShownVerdict = z.infer<typeof ShownVerdict>

/** An action whose verdict in the replay differs from the stored verdict. */
export const VerdictDifference = z.object({
  action_id: z.string(),
  project_id: z.string(),
  connection_ids: z.array(z.string()),
  provider: ProviderKind,
  kind: ActionKind,
  subject: z.string(),
  provider_ref: z.string().nullable(),
  /** Minor units. */
  amount: z.number().nullable(),
  currency: z.string().nullable(),
  first_seen_at: z.string(),
  basis: DryRunBasis,
  /** Null if no action was stored. */
  stored: ShownVerdict.nullable(),
  /** Null if the replay does not find the action. */
  now: ShownVerdict.nullable(),
})
export type VerdictDifference = z.infer<typeof VerdictDifference>

/** Why an event of the window was not replayed. */
export const NotReplayed = z.enum([
  /** It led to no action, and its body is no longer kept, so today's rules cannot read it. */
  'body_gone',
  /** A hint that was held, because its connection cannot be read. */
  'hint_held',
  /** It was ignored, and is a hint by today's rules, so the provider would have to be asked. */
  'hint_now',
  /** Malformed by today's rules. */
  'refused',
])
export type NotReplayed = z.infer<typeof NotReplayed>

/** The result of a dry run. */
export const DryRunSummary = z.object({
  actions: z.object({
    compared: z.int(),
    same: z.int(),
    different: z.int(),
    /** Actions whose second look is still to come, or was due in the last minutes. */
    undecided: z.int(),
    /** The compared actions, by the data that was replayed. */
    by_basis: z.record(DryRunBasis, z.int()),
  }),
  /** The compared actions that alerted as unexplained. */
  alerted: z.object({ stored: z.int(), now: z.int() }),
  /** Payments and subscriptions on which the rules failed, because of a fault in the rules or in the stored data. */
  failed: z.object({ count: z.int(), first: z.object({ id: z.string(), error: z.string() }).nullable() }),
  /** Verdicts that changed, the most frequent change first. */
  changes: z.array(z.object({ from: z.string(), to: z.string(), count: z.int() })),
  events: z.object({
    in_window: z.int(),
    /** Events that lead to no action, then and now. */
    still_ignored: z.int(),
    not_replayed: z.record(NotReplayed, z.int()),
  }),
})
export type DryRunSummary = z.infer<typeof DryRunSummary>

/** One line of the program. The last line is a summary, or says why there is none. */
export const DryRunLine = z.discriminatedUnion('type', [
  z.object({ type: z.literal('progress'), ...DryRunProgress.shape }),
  z.object({ type: z.literal('difference'), ...VerdictDifference.shape }),
  z.object({ type: z.literal('summary'), ...DryRunSummary.shape }),
  z.object({ type: z.literal('database_unavailable') }),
  z.object({ type: z.literal('connection_not_found') }),
  /** Any other failure, as text without secrets. */
  z.object({ type: z.literal('failed'), error: z.string() }),
])
export type DryRunLine = z.infer<typeof DryRunLine>
