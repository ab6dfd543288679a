import type { ActionDocument } from '@backstop/contracts'
import type { ReadCollections } from '../../store/stores.ts'

/** The actions with the names that people gave to their actors. */
export async function nameActors<A extends Pick<ActionDocument, 'actor_id' | 'actor_name'>>(
  { actors }: Pick<ReadCollections, 'actors'>,
  actions: readonly A[],
): Promise<A[]> {
  const ids = [...new Set(actions.flatMap(({ actor_id }) => actor_id ?? []))]
  if (ids.length === 0) return [...actions]
  const said = await actors.findAll({ _id: { in: ids }, removed_at: null })
  const names = new Map(said.flatMap(({ _id, name }) => (name === null ? [] : [[_id, name] as const])))
  return actions.map(action => {
    const actor_name = names.get(action.actor_id ?? '')
    return actor_name === undefined ? action : { ...action, actor_name }
  })
}
