import {
  type ChannelHealthDocument,
  type ChannelKind,
  type ConnectionDocument,
  type IncidentCode,
  type IncidentState,
  type ProviderKind,
  type QuietHours,
  quietUntil,
  type SweepDocument,
} from '@backstop/contracts'

/** Things that wait, and the age of the oldest one in milliseconds; 0 if nothing waits. */
export interface Waiting {
  readonly count: number
  readonly oldestMs: number
}

/**
 * The state of a channel, for people: `off` was chosen by a person, `disabled` by the channel's failures,
 * `not_delivering` if an incident about that is open.
 */
export type ChannelState = 'ok' | 'failing' | 'not_delivering' | 'disabled' | 'off'

/** What an on-call engineer wants to know about the whole installation. */
export interface InstallationState {
  /** Actions that wait for their verdict. */
  readonly undecided: Waiting & {
    /** Their second look was due, and they do not wait for an answer of their provider. */
    readonly overdue: number
    /** Their second look was due, and only an answer of their provider can give the verdict. */
    readonly waiting: number
  }
  /** The oldest change of an operation that was sent to its provider, and that the reconciler has not compared with the cases. */
  readonly uncomparedOperations: Pick<Waiting, 'oldestMs'>
  readonly incidents: readonly { readonly code: IncidentCode; readonly state: IncidentState; readonly count: number }[]
  readonly stormsOpen: number
  readonly connections: ConnectionsState
  /** By the topic to which a replay sends them. Dead deliveries of deleted channels do not count: no replay can send them. */
  readonly deadLetters: readonly { readonly topic: string; readonly count: number }[]
  /** The age of pending deliveries is that of the oldest one whose channel holds nothing back on purpose. */
  readonly deliveries: Readonly<Record<'pending' | 'retrying' | 'dead', Waiting>>
  readonly channels: readonly { readonly kind: ChannelKind; readonly state: ChannelState; readonly count: number }[]
  readonly outboxes: readonly (Waiting & { readonly collection: string })[]
}

export interface ConnectionsState {
  readonly counts: readonly {
    readonly provider: ProviderKind
    readonly status: 'active' | 'needs_setup'
    readonly count: number
  }[]
  /** Connections whose provider refuses the read key. */
  readonly keyRejected: number
  /** Connections whose provider cannot be read, for this or another reason. */
  readonly unreadable: number
  /** Connections whose provider lists events that did not arrive. */
  readonly silent: number
  /** The longest time since the last successful sweep of a connection, in milliseconds. */
  readonly sweepAgeMs: number
}

export type CountedConnection = Pick<ConnectionDocument, '_id' | 'kind' | 'status'> & {
  readonly read_key: Pick<NonNullable<ConnectionDocument['read_key']>, 'created_at'> | null
}
export type CountedSweep = Pick<
  SweepDocument,
  '_id' | 'last_run_at' | 'last_error' | 'failing_since' | 'open_incidents'
>

/** Counts the connections by the results of their sweeps. A result that is older than the read key is not counted. */
export function summarizeConnections(
  connections: readonly CountedConnection[],
  sweeps: readonly CountedSweep[],
  { nowMs, keyRefusedText }: { readonly nowMs: number; readonly keyRefusedText: string },
): ConnectionsState {
  const sweepOf = new Map(sweeps.map(sweep => [sweep._id, sweep]))
  const read = connections.flatMap(({ _id, status, read_key }) => {
    if (status !== 'active' || read_key === null) return []
    const keySince = read_key.created_at
    const sweep = sweepOf.get(_id)
    const isCurrent = sweep !== undefined && sweep.last_run_at !== null && sweep.last_run_at >= keySince
    return [{ keySince, sweep: isCurrent ? sweep : undefined }]
  })
  const failing = read.flatMap(({ sweep }) => sweep?.last_error ?? [])
  const ages = read.map(
    ({ keySince, sweep }) => nowMs - (sweep?.failing_since ?? sweep?.last_run_at ?? keySince).getTime(),
  )
  const kinds = Map.groupBy(connections, ({ kind, status }) => `${kind}/${status}`)
  return {
    counts: [...kinds.values()].flatMap(([first, ...others]) =>
      first === undefined || first.status === 'deleted'
        ? []
        : [{ provider: first.kind, status: first.status, count: 1 + others.length }],
    ),
    keyRejected: failing.filter(error => error.includes(keyRefusedText)).length,
    unreadable: failing.length,
    silent: connections.filter(({ _id }) => sweepOf.get(_id)?.open_incidents.FEED_SILENT !== undefined).length,
    sweepAgeMs: Math.max(0, ...ages),
  }
}

export interface CountedChannel {
  readonly _id: string
  readonly kind: ChannelKind
  readonly enabled: boolean
}
export type CountedHealth = Pick<
  ChannelHealthDocument,
  '_id' | 'disabled_at' | 'failing_since' | 'undelivered_since' | 'unreached' | 'failing_incident_id'
>

/** Counts the channels by kind and state. */
export function summarizeChannels(
  channels: readonly CountedChannel[],
  health: readonly CountedHealth[],
): InstallationState['channels'] {
  const healthOf = new Map(health.map(one => [one._id, one]))
  const stateOf = ({ _id, enabled }: CountedChannel): ChannelState => {
    if (!enabled) return 'off'
    const known = healthOf.get(_id)
    if (known?.disabled_at != null) return 'disabled'
    if (known?.failing_incident_id != null) return 'not_delivering'
    const hasFailed = known?.failing_since != null || known?.undelivered_since != null || known?.unreached !== undefined
    return hasFailed ? 'failing' : 'ok'
  }
  const groups = Map.groupBy(
    channels.map(channel => ({ kind: channel.kind, state: stateOf(channel) })),
    ({ kind, state }) => `${kind}/${state}`,
  )
  return [...groups.values()].flatMap(group => (group[0] === undefined ? [] : [{ ...group[0], count: group.length }]))
}

/** Deliveries that were held leave within this time after the end of quiet hours or of a pause, in milliseconds. */
const HELD_LEAVE_WITHIN_MS = 120_000

export type QuietChannel = { readonly _id: string; readonly quiet_hours?: QuietHours | null }
export type PausedChannel = Pick<ChannelHealthDocument, '_id' | 'held'>

/** The channels whose deliveries wait on purpose: in quiet hours or paused, now or just before. */
export function listHeldChannels(
  channels: readonly QuietChannel[],
  health: readonly PausedChannel[],
  nowMs: number,
): string[] {
  const recentlyMs = nowMs - HELD_LEAVE_WITHIN_MS
  const isQuiet = (hours: QuietHours) => quietUntil(nowMs, hours) !== null || quietUntil(recentlyMs, hours) !== null
  const quiet = channels.filter(({ quiet_hours: hours }) => hours != null && isQuiet(hours))
  const paused = health.filter(({ held }) => held !== undefined && held.until.getTime() > recentlyMs)
  return [...new Set([...quiet, ...paused].map(({ _id }) => _id))]
}
