import type { Json } from './api-user.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'

/** People ask to erase a customer of whom an action is listed. */
export function drawErasures(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'erasure', count: scene.world.swarm().erasures }, eraseCustomer)
}

async function eraseCustomer({ world, random, customers }: Scene): Promise<void> {
  // The release before does not have the call.
  if (world.swarm().updateAtMs > 0) return
  const { projectId } = random.pick(customers)
  const { data } = (await world.api.get(`/v1/actions?project_id=${projectId}&limit=200`)) as unknown as { data: Json[] }
  const emails = data.flatMap(({ customer }) => (customer as { readonly email: string | null } | null)?.email ?? [])
  if (emails.length === 0) return
  const email = random.pick(emails)
  await world.api.post(`/v1/projects/${projectId}/person-erasures`, { email })
  world.truth.erased.push({ projectId, email, atMs: world.clock.now })
  world.happened('a customer was erased')
}
