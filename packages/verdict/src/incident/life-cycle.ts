import { type Command, type IncidentEntry, type IncidentEvent, type IncidentReason, isoTime } from '@backstop/contracts'
import type { IncidentProgress, LifeCycle } from '../case/incident-record.ts'

export type ChangeIncident = Extract<Command, { kind: 'change_incident' }>

/** An incident and the facts that its next change depends on. */
export interface ChangeableIncident {
  readonly id: string
  readonly progress: IncidentProgress
  /** The present version, and the version with the change. */
  readonly version: number
  readonly nextVersion: number
  /** Why the incident cannot be open, for example because its action is explained; null if it can. */
  readonly cannotOpen: string | null
  /** The number of changes that may still be recorded. */
  readonly room: number
}

/** state: the state does not allow the change. version: another change came first. full: the limit of changes is reached. */
export type ChangeRefusal = 'state' | 'version' | 'full'

export type ChangeDecision =
  /** `event` is the alert to raise; null if there is none. */
  | { readonly kind: 'changed'; readonly progress: IncidentProgress; readonly event: IncidentEvent | null }
  /** The incident has this change already. */
  | { readonly kind: 'repeated' }
  | { readonly kind: 'refused'; readonly reason: ChangeRefusal; readonly text: string }

/** Changes that one incident keeps. */
export const MAX_CHANGES = 100

const NO_LIFE_CYCLE: LifeCycle = {
  acknowledged: null,
  assignee: null,
  reason: null,
  note: null,
  reopened: 0,
  changes: [],
}

/** Decides a change of an incident: open → acknowledged → resolved, and open again. Comments and assignees are always possible. */
export function changeIncident(incident: ChangeableIncident, command: ChangeIncident, now: number): ChangeDecision {
  const { progress, version, room } = incident
  const changes = progress.lifeCycle?.changes ?? []
  if (changes.some(({ command_id }) => command_id === command.command_id)) return { kind: 'repeated' }
  if (command.expected_version !== undefined && command.expected_version !== version) {
    return {
      kind: 'refused',
      reason: 'version',
      text: `The incident has changed since it was read. ${lastChange(progress)}`,
    }
  }
  const refusal = whyRefused(incident, command)
  if (refusal !== null) return { kind: 'refused', reason: 'state', text: refusal }
  // The end of an incident is never refused for its number of changes.
  if (command.change.kind !== 'resolve' && Math.min(room, MAX_CHANGES - changes.length) <= 0) {
    return { kind: 'refused', reason: 'full', text: 'The incident has too many changes; resolve it' }
  }
  return applyChange(incident, command, now)
}

function whyRefused({ progress, cannotOpen }: ChangeableIncident, { change }: ChangeIncident): string | null {
  switch (change.kind) {
    case 'acknowledge':
      return progress.state === 'open' ? null : lastChange(progress)
    case 'resolve':
      return progress.state === 'resolved' ? lastChange(progress) : null
    case 'reopen':
      if (progress.state !== 'resolved') return `The incident is ${progress.state}, so it cannot be opened again`
      return cannotOpen
    case 'assign':
    case 'comment':
      return null
    default:
      return change satisfies never
  }
}

/** Who brought the incident into its state, and when. */
function lastChange({ state, resolvedAt, resolution, lifeCycle }: IncidentProgress): string {
  if (state === 'resolved') return `The incident was resolved at ${isoTime(resolvedAt)}: ${resolution}`
  const last = lifeCycle?.changes.at(-1)
  const acknowledged = lifeCycle?.acknowledged ?? null
  if (state === 'acknowledged' && acknowledged !== null) {
    return `The incident was acknowledged by ${acknowledged.by} at ${isoTime(acknowledged.at)}`
  }
  return last === undefined ? 'The incident is open' : `Last change at ${last.at}: ${last.text}`
}

function applyChange(
  { id, progress, nextVersion }: ChangeableIncident,
  { command_id, change, actor }: ChangeIncident,
  now: number,
): ChangeDecision {
  const known = progress.lifeCycle ?? NO_LIFE_CYCLE
  const text = describeChange(actor.name, change)
  const entry: IncidentEntry = {
    at: isoTime(now),
    what: WHAT[change.kind],
    id,
    text,
    by: actor,
    command_id,
    version: nextVersion,
  }
  const lifeCycle: LifeCycle = { ...known, changes: [...known.changes, entry] }
  const open = { state: 'open', resolvedAt: null, resolvedBy: null, resolution: null } as const
  switch (change.kind) {
    case 'acknowledge': {
      const acknowledged = { at: now, by: actor.name }
      const next = { ...open, state: 'acknowledged', lifeCycle: { ...lifeCycle, acknowledged } } as const
      return { kind: 'changed', progress: next, event: 'incident.acknowledged' }
    }
    case 'resolve': {
      const { reason, note } = change
      const end = { state: 'resolved', resolvedAt: now, resolvedBy: actor.name, resolution: text } as const
      return {
        kind: 'changed',
        progress: { ...end, lifeCycle: { ...lifeCycle, reason, note } },
        event: 'incident.resolved',
      }
    }
    case 'reopen': {
      const again = { acknowledged: null, reason: null, note: null, reopened: known.reopened + 1 }
      return { kind: 'changed', progress: { ...open, lifeCycle: { ...lifeCycle, ...again } }, event: 'incident.opened' }
    }
    case 'assign':
      return {
        kind: 'changed',
        progress: { ...progress, lifeCycle: { ...lifeCycle, assignee: change.assignee } },
        event: null,
      }
    case 'comment':
      return { kind: 'changed', progress: { ...progress, lifeCycle }, event: null }
    default:
      return change satisfies never
  }
}

const WHAT = {
  acknowledge: 'incident_acknowledged',
  assign: 'incident_assigned',
  resolve: 'incident_resolved',
  reopen: 'incident_reopened',
  comment: 'incident_commented',
} as const satisfies Record<ChangeIncident['change']['kind'], IncidentEntry['what']>

const REASONS: Record<IncidentReason, string> = {
  our_own_change: 'it was our own change',
  fraud_or_leaked_key: 'fraud or a leaked key',
  provider_mistake: 'a mistake of the provider',
  duplicate: 'a duplicate',
  other: 'another reason',
  connection_deleted: 'the connection was deleted',
}

function describeChange(name: string, change: ChangeIncident['change']): string {
  switch (change.kind) {
    case 'acknowledge':
      return `Acknowledged by ${name}`
    case 'assign':
      return change.assignee === null ? `${name} removed the assignee` : `${name} assigned it to ${change.assignee}`
    case 'resolve':
      return `Resolved by ${name}: ${REASONS[change.reason]}${change.note === null ? '' : `. ${change.note}`}`
    case 'reopen':
      return `Opened again by ${name}`
    case 'comment':
      return `${name}: ${change.text}`
    default:
      return change satisfies never
  }
}
