/** The two refunds of the demo: one is reported as an operation, the other is not reported. */
import type { ShownOperation } from '@backstop/contracts'
import { formatMoney } from '@backstop/contracts/money'
import type { ManagementApi } from '../management-api.ts'
import type { DemoSetup } from './demo-setup.ts'
import type { FactPrinter } from './fact-printer.ts'

/** Makes the reported and the unreported refund. @returns the id of the unreported refund */
export async function makeDemoRefunds(setup: DemoSetup, api: ManagementApi, printer: FactPrinter): Promise<string> {
  await makeExplainedRefund(setup, api, printer)
  const { charge } = setup.processor.createPayment({ amount: 8_900, currency: 'eur', description: 'Order 1002' })
  const refund = setup.processor.refund({ charge: charge.id, amount: 4_999, idempotencyKey: 'not-ours' })
  printer.fact(
    'refund',
    `${refund.id} of ${formatMoney(refund.amount, refund.currency)}: made with a leaked key; no operation was reported`,
  )
  return refund.id
}

async function makeExplainedRefund(setup: DemoSetup, api: ManagementApi, printer: FactPrinter): Promise<void> {
  const { charge, paymentIntent } = setup.processor.createPayment({
    amount: 2_499,
    currency: 'eur',
    description: 'Order 1001',
  })
  const idempotencyKey = `refund-${charge.id}`
  const operation = await api.post<ShownOperation>('/v1/operations', {
    connection_id: setup.record.connection_id,
    kind: 'refund',
    subject: paymentIntent.id,
    amount: charge.amount,
    currency: charge.currency,
    idempotency_key: idempotencyKey,
    state: 'executing',
  })
  printer.fact(
    'operation',
    `${operation.operation_id} reported: your software refunds ${formatMoney(charge.amount, charge.currency)}`,
  )
  const refund = setup.processor.refund({ charge: charge.id, idempotencyKey })
  printer.fact('refund', `${refund.id} of ${formatMoney(refund.amount, refund.currency)}: made by your software`)
  await api.post(`/v1/operations/${operation.operation_id}/transitions`, { to: 'completed', provider_ref: refund.id })
}
