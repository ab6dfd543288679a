import { createCardProcessor, createChance, type EventSource } from '@backstop/simulator'
import type { ProviderEvent } from './notifications.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'

/** Authentic notifications of the card processor that cannot be used: a refund without its amount. */
export function drawUnusableEvents(scene: Scene): PlanItem[] {
  const { unusableEvents, forgeries } = scene.world.swarm()
  return [
    ...drawItems(scene, { name: 'unusable event', count: unusableEvents }, notifyUnusably),
    ...drawItems(scene, { name: 'forgery', count: forgeries }, forge),
  ]
}

/** A refund that was never made, signed with another secret. */
async function forge({ world, random, customers }: Scene): Promise<void> {
  const account = random.pick(customers).accounts.find(({ kind }) => kind === 'processor')
  if (account === undefined || !account.isConnected) return
  const other = createCardProcessor({ now: () => world.clock.now, chance: createChance(random.between(0, 2 ** 31)) })
  const { paymentIntent } = other.createPayment({ amount: 4_321, currency: 'eur' })
  const secrets = [`whsec_${random.between(2 ** 30, 2 ** 31)}abcdefghijklmnopqrstuvwxyz`]
  account.notifications.forge(other as unknown as EventSource<ProviderEvent>, { kind: 'processor', secrets })
  other.refund({ payment_intent: paymentIntent.id })
}

async function notifyUnusably({ world, random, customers }: Scene): Promise<void> {
  const { clock, truth, happened } = world
  const account = random.pick(customers).accounts.find(({ kind }) => kind === 'processor')
  if (account === undefined || !account.isConnected) return
  const other = createCardProcessor({ now: () => clock.now, chance: createChance(random.between(0, 2 ** 31)) })
  const broken = {
    onEvent: (listener: (event: ProviderEvent) => void) =>
      other.onEvent(event => {
        if (event.type !== 'refund.created') return
        truth.unusable.push(event.id)
        listener({ ...event, data: { object: { ...event.data.object, amount: 'unknown' } } } as never)
      }),
    notePosting: () => {},
  }
  account.notifications.follow(broken as unknown as EventSource<ProviderEvent>)
  const payment = other.createPayment({ amount: 1_234, currency: 'eur' })
  other.refund({ payment_intent: payment.paymentIntent.id })
  happened('a notification that cannot be used')
}
