import type { Actor, Command, IncidentOutcomeDocument, LifeCycleChange } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { decideAccess, type Principal } from '../../access/rules/access.ts'
import type { AdminParts } from '../../parts.ts'

type ChangeIncident = Extract<Command, { kind: 'change_incident' }>

/** A change of one incident that a caller requests. */
export interface RequestedChange {
  readonly commandId: string
  readonly incidentId: string
  readonly change: LifeCycleChange
  /** The change is refused if the incident has another version. */
  readonly version?: number
}

/** How long a route waits for the reconciler to change incidents, in milliseconds. */
const CHANGING_MS = 10_000

/** The caller of a request, as timelines and messages name it. */
export function actorOf({ kind, id, name }: Principal): Actor {
  return { kind: kind === 'key' ? 'api_key' : 'person', id, name }
}

/**
 * Checks who says that a refund was our own change. That explains it, so software with a key needs the scope with which it could announce the
 * refund. A person who may resolve incidents is enough: people are asked whether it was them.
 * @throws AppError `forbidden`
 */
export function checkOwnChange(
  principal: Principal,
  change: { readonly kind: string; readonly reason?: string },
  projectId: string,
): void {
  if (principal.kind === 'person' || change.reason !== 'our_own_change') return
  const access = decideAccess(principal, 'manage')
  if (access.kind === 'granted' && (access.projectIds === null || access.projectIds.includes(projectId))) return
  const detail =
    'A key needs the scope manage to explain refunds as our own change; sign in as a person, or give another reason'
  throw new AppError('forbidden', detail, { details: { reason: 'scope_missing' } })
}

/**
 * Asks the reconciler, which owns incidents, for the changes, and waits until it has decided all of them.
 * @returns the outcomes by command id
 * @throws AppError `unavailable` if not all outcomes are known in time; a repeat with the same ids changes nothing twice
 */
export async function requestChanges(
  { commands, outcomes, stores }: Pick<AdminParts, 'commands' | 'outcomes' | 'stores'>,
  changes: readonly RequestedChange[],
  from: { readonly projectId: string; readonly actor: Actor; readonly now: Date; readonly signal: AbortSignal },
): Promise<ReadonlyMap<string, IncidentOutcomeDocument>> {
  const { projectId, actor, now, signal } = from
  await commands.send(
    changes.map(
      ({ commandId, incidentId, change, version }): ChangeIncident => ({
        kind: 'change_incident',
        command_id: commandId,
        project_id: projectId,
        requested_at: now.toISOString(),
        incident_id: incidentId,
        change,
        actor,
        ...(version === undefined ? {} : { expected_version: version }),
      }),
    ),
  )
  const ids = changes.map(({ commandId }) => commandId)
  const look = async () => {
    const found = await stores.incidentOutcomes.findAll({ _id: { in: ids } })
    return found.length === new Set(ids).size ? found : undefined
  }
  const found = await outcomes.waitFor(look, CHANGING_MS, signal)
  if (found !== undefined) return new Map(found.map(outcome => [outcome._id, outcome]))
  throw new AppError(
    'unavailable',
    'The change is requested but not confirmed; read the incident, or repeat the request with the same Idempotency-Key',
    { retryable: true },
  )
}

/**
 * @param hasIfMatch true if the caller named the version
 * @throws AppError `incident_state`, `precondition_failed` or `not_found` if the change was refused; the detail says who came first
 */
export function requireChanged(outcome: IncidentOutcomeDocument | undefined, hasIfMatch: boolean): void {
  if (outcome === undefined || outcome.outcome === 'changed') return
  const detail = outcome.detail ?? 'The incident cannot be changed'
  switch (outcome.reason) {
    case 'version':
      throw new AppError(hasIfMatch ? 'precondition_failed' : 'incident_state', detail)
    case 'unknown':
      throw new AppError('not_found', detail)
    case 'state':
    case 'full':
    case null:
      throw new AppError('incident_state', detail)
    default:
      throw outcome.reason satisfies never
  }
}
