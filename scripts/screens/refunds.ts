import type { CreatedConnection } from '@backstop/contracts'
import { createCardProcessor, createChance, createWebhookEndpoint } from '@backstop/simulator'

/** A payment of a made-up customer, and how much of it is refunded. */
export interface RefundedPayment {
  readonly payment: { amount: number; currency: string; name: string; email: string }
  readonly refund: number
}

/** Makes payments and their refunds at a simulated card processor, and returns when the connection has all events. */
export async function makeRefunds(
  { inbound_url, signing_secret }: CreatedConnection,
  payments: readonly RefundedPayment[],
): Promise<void> {
  const processor = createCardProcessor({ now: Date.now, chance: createChance(7), livemode: false })
  const endpoint = createWebhookEndpoint({
    url: inbound_url,
    credential: { kind: 'processor', secrets: [signing_secret ?? ''] },
    now: Date.now,
  })
  const made = payments.map(({ payment, refund }) => ({ charge: processor.createPayment(payment).charge, refund }))
  endpoint.follow(processor)
  for (const [index, { charge, refund }] of made.entries())
    processor.refund({ charge: charge.id, amount: refund, idempotencyKey: `made-up-${index}` })
  await endpoint.idle()
  await endpoint.stop()
}
