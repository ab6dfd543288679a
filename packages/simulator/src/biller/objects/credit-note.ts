import type { CreditNote } from 'chargebee'
import { makeId, type ObjectContext, secondsOf, versionOf } from '../object-context.ts'
import type { BillerInvoice } from './invoice.ts'

/** The reason of a credit note, from the provider's list. */
export type CreditNoteReason = NonNullable<CreditNote['reason_code']>

/** A credit note as in the API and in events. */
export type BillerCreditNote = CreditNote & {
  object: 'credit_note'
  total: number
  amount_allocated: number
  amount_refunded: number
  amount_available: number
  reason_code: CreditNoteReason
  linked_refunds: CreditNote.LinkedRefund[]
  allocations: CreditNote.Allocation[]
}

export interface CreditNoteFields {
  id: string
  invoice: BillerInvoice
  /** Minor units. */
  amount: number
  type: BillerCreditNote['type']
  reason: CreditNoteReason
}

/** A credit note without refunds. A credit note of type `adjustment` only reduces an unpaid invoice. */
export function makeCreditNote(context: ObjectContext, fields: CreditNoteFields): BillerCreditNote {
  const { invoice, amount } = fields
  const date = secondsOf(context.nowMs)
  const isAdjustment = fields.type === 'adjustment'
  return {
    id: fields.id,
    object: 'credit_note',
    customer_id: invoice.customer_id,
    ...(invoice.subscription_id === undefined ? {} : { subscription_id: invoice.subscription_id }),
    reference_invoice_id: invoice.id,
    type: fields.type,
    reason_code: fields.reason,
    create_reason_code: REASON_TEXTS[fields.reason] ?? 'Other',
    status: isAdjustment ? 'adjusted' : 'refund_due',
    date,
    generated_at: date,
    price_type: 'tax_exclusive',
    currency_code: invoice.currency_code,
    base_currency_code: invoice.currency_code,
    exchange_rate: 1,
    sub_total: amount,
    total: amount,
    amount_allocated: isAdjustment ? amount : 0,
    amount_refunded: 0,
    amount_available: isAdjustment ? 0 : amount,
    round_off_amount: 0,
    fractional_correction: 0,
    channel: 'web',
    line_items: [
      {
        id: makeId('li', context),
        date_from: date,
        date_to: date,
        unit_amount: amount,
        quantity: 1,
        amount,
        pricing_model: 'flat_fee',
        is_taxed: false,
        tax_amount: 0,
        description: 'Team plan',
        entity_type: 'plan_item_price',
        reference_line_item_id: invoice.line_items?.[0]?.id ?? '',
        customer_id: invoice.customer_id,
        discount_amount: 0,
        item_level_discount_amount: 0,
      },
    ],
    linked_refunds: [],
    allocations: isAdjustment
      ? [
          {
            invoice_id: invoice.id,
            allocated_amount: amount,
            allocated_at: date,
            ...(invoice.date === undefined ? {} : { invoice_date: invoice.date }),
            invoice_status: invoice.status,
          },
        ]
      : [],
    deleted: false,
    ...versionOf(context),
  }
}

const REASON_TEXTS: Partial<Record<CreditNoteReason, string>> = {
  chargeback: 'Chargeback',
  product_unsatisfactory: 'Product Unsatisfactory',
  service_unsatisfactory: 'Service Unsatisfactory',
  subscription_cancellation: 'Subscription Cancellation',
  subscription_change: 'Subscription Change',
  waiver: 'Waiver',
}
