import { createBiller, createCardProcessor, createChance, createReseller, type EventSource } from '@backstop/simulator'
import type { Account } from './accounts.ts'
import type { ProviderEvent } from './notifications.ts'
import { drawItems, type PlanItem, type Scene } from './plan-items.ts'

const AMOUNT = 7_777

/** Authentic notifications about objects that the provider's API does not know, as a test message of its dashboard sends them. */
export function drawUnknownObjects(scene: Scene): PlanItem[] {
  const count = scene.world.swarm().unknownObjects
  return drawItems(scene, { name: 'unknown object', count }, notifyAboutUnknown)
}

async function notifyAboutUnknown({ world, random, customers }: Scene): Promise<void> {
  const { clock, truth, happened } = world
  const account = random.pick(random.pick(customers).accounts)
  if (!account.isConnected) return
  const names = refundElsewhere(account, { now: () => clock.now, chance: createChance(random.between(0, 2 ** 31)) })
  happened('a notification about an unknown object')
  // A biller's notifications and thin ones are only hints. The others are signed and have an object, so they alert.
  const isHint = account.sendsHints
  const denied = {
    reason: 'the provider does not know it',
    explains: false,
    begins: { fromMs: 0, toMs: 0 },
    mayHide: true,
  } as const
  truth.deeds.push({
    projectId: account.truth.projectId,
    title: 'a refund that the provider does not know',
    ref: names[0],
    names,
    accounts: [account.truth],
    atMs: clock.now,
    hasVerdict: true,
    mustAlert: true,
    grounds: isHint ? [denied] : [],
  })
}

/**
 * Makes a refund at another account of the same provider, whose events go to this account's connection.
 * @returns the names that an alert may use for it
 */
function refundElsewhere(
  { kind, notifications }: Account,
  options: { readonly now: () => number; readonly chance: ReturnType<typeof createChance> },
): [string, ...string[]] {
  const follow = <T extends object>(other: T): T => {
    notifications.follow(other as EventSource<ProviderEvent>)
    return other
  }
  switch (kind) {
    case 'processor': {
      const other = follow(createCardProcessor(options))
      const payment = other.createPayment({ amount: AMOUNT, currency: 'eur' })
      const { id } = other.refund({ payment_intent: payment.paymentIntent.id })
      // If the notification of the refund itself is lost, the total of its charge shows it.
      return [id, `${AMOUNT} of ${payment.paymentIntent.id}`]
    }
    case 'reseller': {
      const other = follow(createReseller(options))
      const { id: transactionId } = other.sell({ amount: AMOUNT })
      return [other.refund({ transactionId, amount: AMOUNT, review: 'automatic' }).id]
    }
    default: {
      const other = follow(createBiller(options))
      return [other.refundInvoice(other.bill({ amount: AMOUNT }).invoice.id).refund.id]
    }
  }
}
