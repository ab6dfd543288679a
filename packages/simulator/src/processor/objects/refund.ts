import type Stripe from 'stripe'
import type { ObjectContext } from '../object-context.ts'

export interface RefundFields {
  charge: Stripe.Charge
  amount: number
  status: 'pending' | 'succeeded'
  reason: string | null
  metadata: Record<string, string>
}

/** A new refund of a card charge. */
export function makeRefund({ chance, created }: ObjectContext, fields: RefundFields): Stripe.Refund {
  const isSucceeded = fields.status === 'succeeded'
  return {
    id: `re_3${chance.text(23)}`,
    object: 'refund',
    amount: fields.amount,
    balance_transaction: isSucceeded ? `txn_3${chance.text(23)}` : null,
    charge: fields.charge.id,
    created,
    currency: fields.charge.currency,
    customer: fields.charge.customer,
    customer_account: null,
    destination_details: {
      type: 'card',
      card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    },
    metadata: fields.metadata,
    payment_intent: fields.charge.payment_intent,
    payment_method: fields.charge.payment_method,
    ...(isSucceeded ? {} : { pending_reason: 'processing' }),
    reason: fields.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: fields.status,
    transfer_reversal: null,
  }
}
