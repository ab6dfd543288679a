import { type ActionDocument, type IncidentDocument, withBurstNamed } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'

type Actors = Pick<ReadCollections, 'actors'>

/** The names that people gave to these actors, by their ids. */
export async function readActorNames(
  { actors }: Actors,
  ids: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, string>> {
  const known = [...new Set(ids.flatMap(id => id ?? []))]
  if (known.length === 0) return new Map()
  const said = await actors.findAll({ _id: { in: known }, removed_at: null })
  return new Map(said.flatMap(({ _id, name }) => (name === null ? [] : [[_id, name] as const])))
}

/** The actions with the names that people gave to their actors. */
export async function nameActors<A extends Pick<ActionDocument, 'actor_id' | 'actor_name'>>(
  stores: Actors,
  actions: readonly A[],
): Promise<A[]> {
  const names = await readActorNames(
    stores,
    actions.map(({ actor_id }) => actor_id),
  )
  return actions.map(action => ({ ...action, ...actorName(names.get(action.actor_id ?? '')) }))
}

/** Those of some connections that were deleted. The names of their users are not shown: the personal data of a deleted connection is erased. */
export async function readDeletedConnections(
  { connections }: Pick<ReadCollections, 'connections'>,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const deleted = await connections.findAll({ _id: { in: [...new Set(ids)] }, status: 'deleted' })
  return new Set(deleted.map(({ _id }) => _id))
}

/** An incident with the names that people gave to its actor, and to the actor of its burst. */
export type NamedIncident = IncidentDocument & { readonly actor_name?: string }

export async function nameActorsOfIncidents(
  stores: Pick<ReadCollections, 'actors' | 'connections'>,
  incidents: readonly IncidentDocument[],
): Promise<NamedIncident[]> {
  const [names, deleted] = await Promise.all([
    readActorNames(
      stores,
      incidents.flatMap(({ actor_id, burst }) => [actor_id, burst?.common?.actor?.value]),
    ),
    readDeletedConnections(
      stores,
      incidents.flatMap(incident => (isByUser(incident) ? (incident.connection_id ?? []) : [])),
    ),
  ])
  return incidents.map(incident => {
    const isErased = isByUser(incident) && deleted.has(incident.connection_id ?? '')
    return {
      ...(isErased ? incident : withBurstNamed(incident, names)),
      ...actorName(names.get(incident.actor_id ?? '')),
    }
  })
}

/** True for a burst by a user of the dashboard, whose name is that of a person. */
function isByUser({ burst }: IncidentDocument): boolean {
  return burst?.common?.actor?.kind === 'dashboard_user'
}

function actorName(name: string | undefined): { readonly actor_name?: string } {
  return name === undefined ? {} : { actor_name: name }
}
