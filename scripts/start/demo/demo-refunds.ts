/** The demo's two refunds: one that the team's software reported, and one that nobody did. */
import { formatMoney, type ShownOperation } from '@backstop/contracts'
import type { ManagementApi } from '../management-api.ts'
import type { DemoWorld } from './demo-setup.ts'
import type { Stage } from './fact-printer.ts'

/** Makes both refunds. @returns the id of the second */
export async function playRefunds(world: DemoWorld, api: ManagementApi, stage: Stage): Promise<string> {
  await playExplained(world, api, stage)
  const { charge } = world.processor.createPayment({ amount: 8_900, currency: 'eur', description: 'Order 1002' })
  const refund = world.processor.refund({ charge: charge.id, amount: 4_999, idempotencyKey: 'not-ours' })
  stage.tell(
    'refund',
    `${refund.id} of ${formatMoney(refund.amount, refund.currency)}: made with a leaked key; no operation was reported`,
  )
  return refund.id
}

async function playExplained(world: DemoWorld, api: ManagementApi, stage: Stage): Promise<void> {
  const { charge, paymentIntent } = world.processor.createPayment({
    amount: 2_499,
    currency: 'eur',
    description: 'Order 1001',
  })
  const idempotencyKey = `refund-${charge.id}`
  const operation = await api.post<ShownOperation>('/v1/operations', {
    connection_id: world.record.connection_id,
    kind: 'refund',
    subject: paymentIntent.id,
    amount: charge.amount,
    currency: charge.currency,
    idempotency_key: idempotencyKey,
    state: 'executing',
  })
  stage.tell(
    'operation',
    `${operation.operation_id} reported: your software refunds ${formatMoney(charge.amount, charge.currency)}`,
  )
  const refund = world.processor.refund({ charge: charge.id, idempotencyKey })
  stage.tell('refund', `${refund.id} of ${formatMoney(refund.amount, refund.currency)}: made by your software`)
  await api.post(`/v1/operations/${operation.operation_id}/transitions`, { to: 'completed', provider_ref: refund.id })
}
