/** A customer with a card processor's account, whose read key nobody was given: all it knows was posted to it. */
import type { Action, OutOfBand } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { CardProcessor, Payment, ReceivedDelivery } from '@backstop/simulator'
import type { Product } from '../../scripts/start/product.ts'
import { type Connected, connectProcessor } from './accounts.ts'
import { actionOf, type Customer, eventOf, isOpened, openCustomer } from './customer.ts'

export interface Shop extends Customer, Pick<Connected<'processor'>, 'connection' | 'endpoint' | 'report'> {
  /** Shown once, when the connection was made. */
  readonly signingSecret: string
  readonly processor: CardProcessor
  /** A card payment that can be refunded many times. */
  pay(): Payment
  setOutOfBand(to: OutOfBand): Promise<void>
  action(refundId: string): Promise<Action | undefined>
  /** Deliveries about this refund, by what they were about. */
  alertsAbout(refundId: string): readonly ReceivedDelivery[]
  /** Resolves with the first delivery of incident.opened about the refund. */
  alertAbout(refundId: string, withinMs: number): Promise<ReceivedDelivery>
}

/** Opens a shop through the public API. */
export async function openShop(product: Product, outOfBand: OutOfBand = 'alert'): Promise<Shop> {
  const customer = await openCustomer(product)
  const { receiver, api, projectId } = customer
  const cards = await connectProcessor(customer, { outOfBand })
  const { connection, endpoint, report, account: processor } = cards
  const alertsAbout = (refundId: string) => receiver.deliveries().filter(delivery => refundOf(delivery) === refundId)
  return {
    ...customer,
    connection,
    endpoint,
    report,
    signingSecret: connection.signing_secret ?? '',
    processor,
    pay: () => processor.createPayment({ amount: 1_000_000, currency: 'eur' }),
    async setOutOfBand(to) {
      await api.patch(`/v1/projects/${projectId}/connections/${connection.connection_id}`, { out_of_band: to })
    },
    action: async refundId => (await customer.actions()).find(action => action.provider_ref === refundId),
    alertsAbout,
    alertAbout: (refundId, withinMs) =>
      until(`the alert about ${refundId}`, () => alertsAbout(refundId).find(isOpened), {
        timeoutMs: withinMs,
        seen: () => receiver.deliveries().map(delivery => [eventOf(delivery), refundOf(delivery)]),
      }),
    stop: async () => {
      await Promise.all([cards.stop(), customer.stop()])
    },
  }
}

export const refundOf = (delivery: ReceivedDelivery) => actionOf(delivery)?.provider_ref
