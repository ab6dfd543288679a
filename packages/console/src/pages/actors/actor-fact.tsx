import type { Action } from '@backstop/client'
import { ProjectLink } from '../../parts/page/index.ts'

/** The actor of an action, which leads to all of its actions. Null if the provider does not name one. */
export function actorFact({ actor_id, actor_name }: Pick<Action, 'actor_id' | 'actor_name'>) {
  if (actor_id === undefined) return null
  return (
    <ProjectLink page="actions" search={{ actor_id }}>
      <bdi>{actor_name ?? 'See what else this actor did'}</bdi>
    </ProjectLink>
  )
}
