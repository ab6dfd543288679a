/** A customer with an account at the card processor and without a read key, so that the product knows only posted events. */
import type { OutOfBand } from '@backstop/contracts'
import type { CardProcessor, Payment } from '@backstop/simulator'
import type { Product } from '../../scripts/start/product.ts'
import { type Connected, connectProcessor } from './accounts.ts'
import { type Customer, openCustomer } from './customer.ts'

export interface Shop extends Customer, Pick<Connected<'processor'>, 'connection' | 'endpoint' | 'report'> {
  /** The secret that signs the processor's events. The API shows it only when the connection is created. */
  readonly signingSecret: string
  readonly processor: CardProcessor
  /** Makes a card payment that is large enough for many partial refunds. */
  pay(): Payment
  setOutOfBand(to: OutOfBand): Promise<void>
}

/** Opens a shop through the public API. Its payments are test payments, unless `livemode` is true. */
export async function openShop(
  product: Product,
  {
    outOfBand = 'alert',
    livemode = false,
    hasBurstAlarm = true,
  }: { outOfBand?: OutOfBand | undefined; livemode?: boolean; hasBurstAlarm?: boolean } = {},
): Promise<Shop> {
  const customer = await openCustomer(product)
  const cards = await connectProcessor(customer, { outOfBand, livemode, hasBurstAlarm })
  const { connection, endpoint, report, account: processor } = cards
  return {
    ...customer,
    connection,
    endpoint,
    report,
    signingSecret: connection.signing_secret ?? '',
    processor,
    pay: () => processor.createPayment({ amount: 1_000_000, currency: 'eur' }),
    async setOutOfBand(to) {
      const path = `/v1/projects/${customer.projectId}/connections/${connection.connection_id}`
      await customer.api.patch(path, { out_of_band: to })
    },
    stop: async () => {
      await Promise.all([cards.stop(), customer.stop()])
    },
  }
}
