import type { createCardProcessor } from '@backstop/simulator'
import { amountOf, nameByAmount, type PreparedChange } from '../../setup/planned-changes/change-kind.ts'
import { wait } from '../world/agenda.ts'
import { Refused } from './api-user.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'
import { make } from './software.ts'
import type { Deed } from './truth.ts'

const FIRST_NUMBER = 30_000

export function drawDoubledRefunds(scene: Scene): PlanItem[] {
  const { doubledRefunds: count } = scene.world.swarm()
  return drawItems(scene, { name: 'doubled refund', count }, (own, index) => doubleRefund(own, FIRST_NUMBER + index))
}

/** Software refunds a payment in part, and does so again: it takes the first attempt for failed, or forgot it in a crash. */
async function doubleRefund({ world, random, customers }: Scene, number: number): Promise<void> {
  const { clock, truth } = world
  const changes = random
    .pick(customers)
    .changes.filter(({ kind }) => kind.title.startsWith('one of two partial refunds'))
  const change = random.pick(changes)
  const account = change.accounts[0]!
  const { canLoseEvents: _, ...kind } = change.kind
  const prepared = prepareEqualRefunds(account.account as ReturnType<typeof createCardProcessor>, amountOf(number))
  const deeds: Deed[] = []
  try {
    for (const end of [random.pick(['failed', 'completed', undefined] as const), 'completed'] as const) {
      const begins = { fromMs: clock.now, toMs: 0 }
      const { operation_id } = await account.report({ ...prepared.operation, state: 'executing' })
      begins.toMs = clock.now
      const deed = make({ world, random, kind, change, prepared })
      // An operation that names no refund explains one of both; which one is not fixed.
      deed.grounds.push({ reason: 'an operation', explains: false, begins })
      const [first] = deeds
      if (first !== undefined) truth.doubled.push({ deeds: [first, deed], hasRule: account.twiceWithinHours !== null })
      deeds.push(deed)
      if (end === 'failed') await account.reportTransition(String(operation_id), { to: end, reason: 'It timed out' })
      if (end === 'completed') {
        await account.reportTransition(String(operation_id), { to: end, provider_ref: deed.ref })
      }
      await wait(clock, random.between(0, 20_000))
    }
    world.happened('a refund was made twice')
  } catch (error) {
    // The account is disconnected, so reports about it are refused.
    if (!(error instanceof Refused) || (error.status !== 404 && error.status !== 409)) throw error
  }
}

function prepareEqualRefunds(cards: ReturnType<typeof createCardProcessor>, amount: number) {
  const subject = cards.createPayment({ amount: 3 * amount, currency: 'eur' }).paymentIntent.id
  return {
    operation: { kind: 'refund', subject, amount, currency: 'eur' },
    make: () => {
      const { id: ref } = cards.refund({ payment_intent: subject, amount })
      return { ref, names: [nameByAmount(subject, amount)] }
    },
  } satisfies PreparedChange
}
