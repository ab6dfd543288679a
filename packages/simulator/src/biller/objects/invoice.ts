import type { Invoice } from 'chargebee'
import { makeId, type ObjectContext, secondsOf, versionOf } from '../object-context.ts'

/** An invoice as in the API and in events. */
export type BillerInvoice = Invoice & { object: 'invoice'; total: number; linked_payments: Invoice.LinkedPayment[] }

export interface InvoiceFields {
  id: string
  customerId: string
  subscriptionId: string | undefined
  /** Minor units. */
  amount: number
  currency: string
  description: string
}

/** An unpaid invoice. */
export function makeInvoice(context: ObjectContext, fields: InvoiceFields): BillerInvoice {
  const date = secondsOf(context.nowMs)
  return {
    id: fields.id,
    object: 'invoice',
    customer_id: fields.customerId,
    ...(fields.subscriptionId === undefined ? {} : { subscription_id: fields.subscriptionId }),
    recurring: fields.subscriptionId !== undefined,
    status: 'payment_due',
    price_type: 'tax_exclusive',
    date,
    due_date: date,
    net_term_days: 0,
    exchange_rate: 1,
    currency_code: fields.currency,
    base_currency_code: fields.currency,
    tax: 0,
    sub_total: fields.amount,
    total: fields.amount,
    amount_paid: 0,
    amount_adjusted: 0,
    write_off_amount: 0,
    credits_applied: 0,
    amount_due: fields.amount,
    amount_to_collect: fields.amount,
    round_off_amount: 0,
    first_invoice: true,
    has_advance_charges: false,
    term_finalized: true,
    is_gifted: false,
    generated_at: date,
    channel: 'web',
    line_items: [
      {
        id: makeId('li', context),
        date_from: date,
        date_to: date,
        unit_amount: fields.amount,
        quantity: 1,
        amount: fields.amount,
        pricing_model: 'flat_fee',
        is_taxed: false,
        tax_amount: 0,
        description: fields.description,
        entity_type: fields.subscriptionId === undefined ? 'adhoc' : 'plan_item_price',
        customer_id: fields.customerId,
        discount_amount: 0,
        item_level_discount_amount: 0,
      },
    ],
    linked_payments: [],
    applied_credits: [],
    adjustment_credit_notes: [],
    issued_credit_notes: [],
    linked_orders: [],
    dunning_attempts: [],
    deleted: false,
    ...versionOf(context),
  }
}
