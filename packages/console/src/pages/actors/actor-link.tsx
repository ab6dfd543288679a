import type { Action } from '@backstop/client'
import { ProjectLink } from '../../parts/page/index.ts'

interface Props {
  actor_id: string
  actor_name: Action['actor_name']
}

/** An actor by its name, which leads to its page. */
export function ActorLink({ actor_id, actor_name }: Props) {
  return (
    <ProjectLink page="actors" id={actor_id}>
      <bdi>{actor_name ?? 'See what else this actor did'}</bdi>
    </ProjectLink>
  )
}

/** The actor of an action. Null if the provider does not name one. */
export function actorFact({ actor_id, actor_name }: Pick<Action, 'actor_id' | 'actor_name'>) {
  return actor_id === undefined ? null : <ActorLink actor_id={actor_id} actor_name={actor_name} />
}
