import type { Account } from './accounts.ts'
import { Refused } from './api-user.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'

/** Programs that end one operation at the same time, each with another refund. The product confirms one of them. */
export function drawContests(scene: Scene): PlanItem[] {
  return drawItems(scene, { name: 'contest', count: scene.world.swarm().contests }, contest)
}

async function contest({ world, random, customers }: Scene): Promise<void> {
  const account = random.pick(random.pick(customers).accounts)
  const name = world.api.newKey()
  const operation = { subject: `pi_contest_${name}`, amount: 2_222, currency: 'eur', state: 'executing' }
  try {
    const { operation_id } = await account.report(operation)
    const refs = ['first', 'second', 'third'].map(program => `re_${program}_${name}`)
    await Promise.all(refs.map(ref => complete(account, String(operation_id), ref)))
    world.happened('programs reported different ends of one operation')
  } catch (error) {
    // The account is disconnected.
    if (!(error instanceof Refused) || error.status !== 404) throw error
  }
}

async function complete(account: Account, operationId: string, ref: string): Promise<void> {
  try {
    await account.reportTransition(operationId, { to: 'completed', provider_ref: ref })
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 409) throw error
  }
}
