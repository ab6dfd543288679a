import {
  type Actor,
  AssignIncident,
  deterministicId,
  IncidentComment,
  type IncidentDocument,
  type IncidentOutcomeDocument,
  type LifeCycleChange,
  ResolveIncident,
  ShownIncident,
  type StormDocument,
  StormOverview,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findInProject, requireInProject } from '../../http/find-resource.ts'
import { checkIfMatch, etagOf } from '../../http/if-match.ts'
import { defineRoute, type Route, type RouteAnswer, type RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { nameActorsOfIncidents } from '../actors/name-actors.ts'
import { countStorm, readIncidents } from '../storms/read-storm.ts'
import { addIncident, EMPTY_COUNT, showStorm } from '../storms/rules/storm.ts'
import { actorOf, checkOwnChange, type RequestedChange, requestChanges, requireChanged } from './request-changes.ts'
import { allowsChange, STATES_BEFORE, showIncident } from './rules/incident.ts'
import { readStormIds } from './show-incidents.ts'

/** The routes that change the life cycle of an incident. */
export function changeIncidentRoutes(parts: AdminParts): Route[] {
  return [
    changeRoute(parts, {
      verb: 'acknowledge',
      operationId: 'acknowledgeIncident',
      summary: 'Acknowledge an incident: somebody works on it',
      description:
        'Only an open incident can be acknowledged; 409 names who acknowledged or resolved it before. If-Match is optional.',
      body: z.undefined(),
      changeOf: () => ({ kind: 'acknowledge' }),
    }),
    changeRoute(parts, {
      verb: 'assign',
      operationId: 'assignIncident',
      summary: 'Assign an incident to a person or team',
      description: 'Possible in every state. `assignee: null` removes the assignee. If-Match is optional.',
      body: AssignIncident,
      changeOf: ({ assignee }) => ({ kind: 'assign', assignee }),
    }),
    changeRoute(parts, {
      verb: 'resolve',
      operationId: 'resolveIncident',
      summary: 'Resolve an incident with a reason',
      description:
        'The incident stays resolved, whatever the provider shows later. The reason `our_own_change` also explains the action: its verdict becomes `explained`; an API key needs the scope `manage` for it. An explanation that comes later is recorded with the action. 409 names who resolved it before. If-Match is optional.',
      body: ResolveIncident,
      changeOf: ({ reason, note = null }) => ({ kind: 'resolve', reason, note }),
    }),
    changeRoute(parts, {
      verb: 'reopen',
      operationId: 'reopenIncident',
      summary: 'Open a resolved incident again',
      description:
        'Channels get `incident.opened` again. Refused with 409 if the incident is not resolved, or if its action is explained. If-Match is optional.',
      body: z.undefined(),
      changeOf: () => ({ kind: 'reopen' }),
    }),
    changeRoute(parts, {
      verb: 'comments',
      operationId: 'commentIncident',
      summary: 'Comment on an incident',
      description: 'The comment appears in the timeline. Possible in every state. If-Match is optional.',
      body: IncidentComment,
      changeOf: ({ text }) => ({ kind: 'comment', text }),
    }),
  ]
}

interface ChangeRouteInput<B extends z.ZodType> {
  readonly verb: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly body: B
  changeOf(body: z.output<B>): LifeCycleChange
}

function changeRoute<B extends z.ZodType>(
  parts: AdminParts,
  { verb, operationId, summary, description, body, changeOf }: ChangeRouteInput<B>,
): Route {
  const { stores } = parts
  return defineRoute({
    method: 'post',
    path: `/v1/incidents/{id}/${verb}`,
    operationId,
    tag: 'Incidents',
    summary,
    description,
    scope: 'incidents:write',
    ...(body instanceof z.ZodUndefined ? {} : { body }),
    answers: {
      200: {
        description: 'The incident, with its version as ETag; the storm, if the id is that of a storm',
        schema: z.union([ShownIncident, StormOverview]),
      },
    },
    refusals: ['incident_state'],
    honoursIfMatch: true,
    async handle(request) {
      const { params, principal, newId } = request
      const wish: Wish = {
        change: changeOf(request.body as z.output<B>),
        commandId: newId('command'),
      }
      const storm = await stores.storms.find({ _id: params.id })
      if (storm !== undefined) {
        const { project_id } = requireInProject(storm, principal, 'incident', params.id)
        checkOwnChange(principal, wish.change, project_id)
        return changeWholeStorm(parts, storm, wish, request)
      }
      const incident = await findInProject(stores.incidents, principal, 'incident', params.id)
      checkOwnChange(principal, wish.change, incident.project_id)
      return changeOne(parts, incident, wish, request)
    },
  })
}

/** The change that a caller requests. */
interface Wish {
  readonly change: LifeCycleChange
  readonly commandId: string
}

type ChangeRequest = Pick<RouteRequest<never, never, never>, 'principal' | 'ifMatch' | 'now' | 'signal' | 'change'>

async function changeOne(
  parts: AdminParts,
  incident: IncidentDocument,
  { change, commandId }: Wish,
  request: ChangeRequest,
): Promise<RouteAnswer> {
  const { stores } = parts
  const { _id: incidentId, project_id: projectId, version, changes = [] } = incident
  // A repeat whose first attempt was not confirmed finds its own change.
  const isRepeat = changes.some(({ command_id }) => command_id === commandId)
  if (!isRepeat) checkIfMatch(request.ifMatch, version)
  const hasVersion = request.ifMatch !== undefined && request.ifMatch.trim() !== '*'
  // If the state does not allow the change, the reconciler is asked only for the reason. With the version it cannot change what has no row.
  const isPossible = isRepeat || STATES_BEFORE[change.kind].includes(incident.state)
  const actor = actorOf(request.principal)
  if (isPossible) await writeRow(request, `incident.${change.kind}`, incidentId, projectId, change)
  const requested = { commandId, incidentId, change, ...(hasVersion || !isPossible ? { version } : {}) }
  const outcomes = await requestChanges(parts, [requested], {
    projectId,
    actor,
    now: request.now,
    signal: request.signal,
  })
  const changed = (await stores.incidents.find({ _id: incidentId })) ?? incident
  requireChanged(outcomes.get(commandId), hasVersion)
  const [named = changed] = await nameActorsOfIncidents(stores, [changed])
  return {
    status: 200,
    body: showIncident(named, (await readStormIds(stores, [changed])).get(incidentId)),
    headers: { etag: etagOf(changed.version) },
  }
}

/** Writes the audit row before the reconciler is asked, because the caller may hang up before the change is confirmed. */
async function writeRow(
  { change: transact }: ChangeRequest,
  action: string,
  target: string,
  projectId: string,
  requested: LifeCycleChange,
): Promise<void> {
  const changes = listChangedFields(target, undefined, { requested })
  await transact(
    async () => {},
    () => ({ action, target, projectId, changes }),
  )
}

async function changeWholeStorm(
  parts: AdminParts,
  storm: StormDocument,
  { change, commandId }: Wish,
  request: ChangeRequest,
): Promise<RouteAnswer> {
  const incidents = await incidentsToChange(parts, storm, change, commandId, request.signal)
  await writeRow(request, `storm.${change.kind}`, storm._id, storm.project_id, change)
  const actor = actorOf(request.principal)
  const { now, signal } = request
  return { status: 200, body: await changeStorm(parts, storm, incidents, change, { commandId, actor, now, signal }) }
}

/** Changes that are requested at once. */
const AT_ONCE = 500

/** The fields that decide whether an incident is changed. Without the others, a large storm takes less memory. */
const FIELDS = ['state', 'reason', 'changes'] as const

/** The id of the command for one incident of a storm. */
function commandIdOf(commandId: string, incidentId: string): string {
  return deterministicId('command', commandId, incidentId)
}

/** The ids of the incidents of a storm, and of its bursts, that a change applies to, those that an earlier attempt of the same request changed included. */
export async function incidentsToChange(
  { stores }: Pick<AdminParts, 'stores'>,
  storm: StormDocument,
  { kind }: LifeCycleChange,
  commandId: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = []
  let count = EMPTY_COUNT
  const isIncluded = (incident: Pick<IncidentDocument, '_id' | (typeof FIELDS)[number]>) => {
    const { _id, changes = [] } = incident
    const isDone = changes.some(({ command_id }) => command_id === commandIdOf(commandId, _id))
    return isDone || allowsChange(incident, kind)
  }
  for await (const batch of readIncidents(stores, [storm], FIELDS, signal)) {
    for (const { member, incident } of batch) {
      count = addIncident(count, member, incident.state)
      if (isIncluded(incident)) found.push(incident._id)
    }
  }
  for await (const bursts of stores.incidents.batches(
    { _id: { in: (storm.bursts ?? []).map(({ incident_id }) => incident_id) } },
    FIELDS,
  )) {
    for (const burst of bursts) if (isIncluded(burst)) found.push(burst._id)
  }
  if (found.length > 0) return found
  const { state } = showStorm(storm, count)
  throw new AppError('incident_state', `The storm is ${state}: none of its incidents allows the change`)
}

/**
 * Changes every incident of a storm that allows it.
 * @throws AppError `incident_state` if none could be changed
 */
export async function changeStorm(
  parts: Pick<AdminParts, 'commands' | 'outcomes' | 'stores'>,
  storm: StormDocument,
  incidentIds: readonly string[],
  change: LifeCycleChange,
  from: { readonly commandId: string; readonly actor: Actor; readonly now: Date; readonly signal: AbortSignal },
): Promise<StormOverview> {
  const projectId = storm.project_id
  const changes: RequestedChange[] = incidentIds.map(incidentId => ({
    commandId: commandIdOf(from.commandId, incidentId),
    incidentId,
    change,
  }))
  const outcomes: IncidentOutcomeDocument[] = []
  for (let at = 0; at < changes.length; at += AT_ONCE) {
    outcomes.push(...(await requestChanges(parts, changes.slice(at, at + AT_ONCE), { ...from, projectId })).values())
  }
  // Somebody else may have changed some of them meanwhile.
  if (outcomes.every(({ outcome }) => outcome === 'refused')) requireChanged(outcomes[0], false)
  return showStorm(storm, await countStorm(parts.stores, storm))
}
