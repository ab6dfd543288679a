/** Who made refunds and cancellations, as far as the providers name them. */
import type { ShownActor } from '@backstop/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './client.ts'
import type { ListDefinition } from './list-cache.ts'
import { allOf } from './resource.ts'

/** A type, because an interface is no query: it has no index signature. */
export type ActorFilter = {
  readonly project_id: string
  readonly kind?: NonNullable<ShownActor['kind']> | undefined
  readonly role?: ShownActor['role'] | undefined
}

export const actorList: ListDefinition<ShownActor, ActorFilter> = {
  resource: 'actors',
  read: ({ project_id, ...page }, options) => api.actors.list(project_id, page as never, options),
  idOf: ({ actor_id }) => actor_id,
  // Counts change with every action, and no live event reports them.
  staleMs: 0,
}

export function actorQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ['actors', 'one', projectId, id],
    queryFn: ({ signal }) => api.actors.get(projectId, id, { signal }),
    staleTime: 0,
  })
}

const MOST_NAMES = 1_000

/** The names of the actors of a project for a filter, by their ids: those of people, or else the words of the provider. */
export function useActorNames(projectId: string): ReadonlyMap<string, string> {
  const actors = useQuery({
    queryKey: ['actors', 'all', projectId],
    queryFn: ({ signal }) => allOf(api.actors.list(projectId, { limit: 200 }, { signal }), MOST_NAMES),
  }).data
  return new Map((actors ?? []).map(actor => [actor.actor_id, actor.name ?? actor.label ?? actor.actor_id]))
}
