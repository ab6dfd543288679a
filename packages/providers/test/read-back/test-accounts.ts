/** An account of each provider on the simulator, with the changes that the read-back suite makes in every account. */
import type { ProviderKind } from '@backstop/contracts'
import {
  createBiller,
  createCardProcessor,
  createChance,
  createReseller,
  type ProviderApi,
  startBillerApi,
  startProcessorApi,
  startResellerApi,
} from '@backstop/simulator'

/** An account of a provider, its API, and changes that every provider has. */
export interface TestAccount {
  readonly api: ProviderApi
  /** Refunds a part of a new payment. @returns the ids of the refund and of the payment */
  refund(): { refundId: string; paymentId: string }
  /** Creates an active subscription. @returns its id */
  subscribe(): string
  cancel(subscriptionId: string): void
  cancelLater(subscriptionId: string): void
  pause(subscriptionId: string): void
  /** Makes a change that neither ends nor pauses the subscription. */
  change(subscriptionId: string): void
  /** The ids and types of all events so far. */
  events(): readonly { id: string; type: string }[]
}

/** Opens an account. @param now the time in milliseconds since the epoch */
export type OpenTestAccount = (readKey: string, now: () => number) => Promise<TestAccount>

/** Opens an account at each provider. */
export const TEST_ACCOUNTS: Readonly<Record<ProviderKind, OpenTestAccount>> = {
  async processor(readKey, now) {
    const account = createCardProcessor({ now, chance: createChance(11) })
    return {
      api: await startProcessorApi({ processor: account, readKeys: [readKey], now }),
      refund() {
        const { charge } = account.createPayment({ amount: 4_999, currency: 'eur' })
        return { refundId: account.refund({ charge: charge.id, amount: 100 }).id, paymentId: charge.id }
      },
      subscribe: () => account.subscribe({ amount: 999, currency: 'eur' }).subscription.id,
      cancel: id => void account.cancel(id),
      cancelLater: id => void account.scheduleCancel(id, { by: 'cancel_at' }),
      pause: id => void account.pauseCollection(id),
      change: id => void account.change(id, { quantity: 2 }),
      events: () => account.events(),
    }
  },

  async reseller(readKey, now) {
    const account = createReseller({ now, chance: createChance(12) })
    return {
      api: await startResellerApi({ reseller: account, readKeys: [readKey], now }),
      refund() {
        const { id } = account.sell({ amount: 4_999 })
        return { refundId: account.refund({ transactionId: id, amount: 100 }).id, paymentId: id }
      },
      subscribe: () => account.subscribe({ amount: 999 }).subscription.id,
      cancel: id => void account.cancel(id),
      cancelLater: id => void account.scheduleCancel(id),
      pause: id => void account.schedulePause(id),
      change: id => void account.change(id, { quantity: 2 }),
      events: () => account.events().map(event => ({ id: event.event_id, type: event.event_type })),
    }
  },

  async subscription(readKey, now) {
    const account = createBiller({ now, chance: createChance(13) })
    return {
      api: await startBillerApi({ biller: account, readKeys: [readKey], now }),
      refund() {
        const { invoice } = account.bill({ amount: 4_999 })
        return { refundId: account.refundInvoice(invoice.id, { amount: 100 }).refund.id, paymentId: invoice.id }
      },
      subscribe: () => account.subscribe({ amount: 999 }).subscription.id,
      cancel: id => void account.cancel(id),
      cancelLater: id => void account.scheduleCancel(id),
      pause: id => void account.schedulePause(id),
      change: id => void account.change(id, { quantity: 2 }),
      events: () => account.events().map(event => ({ id: event.id, type: event.event_type })),
    }
  },
}
