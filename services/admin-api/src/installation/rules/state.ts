import type { ChannelKind, IncidentCode, IncidentState, ProviderKind } from '@backstop/contracts'

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
