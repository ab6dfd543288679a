import type {
  ICustomData,
  ITransactionResponse,
  ITransactionTotalsResponse,
  TransactionOrigin,
} from '@paddle/paddle-node-sdk'
import {
  feeOf,
  makeId,
  money,
  type ObjectContext,
  type ResellerCurrency,
  TAX_RATE,
  taxWithin,
  timeAt,
} from '../object-context.ts'
import type { CatalogEntry } from './catalog.ts'

/** A transaction as in the API, without the parts that `include` adds. */
export type ResellerTransaction = ITransactionResponse

export interface TransactionFields {
  /** Minor units, including tax. */
  amount: number
  currency: ResellerCurrency
  sold: CatalogEntry
  customerId: string
  addressId: string
  subscriptionId: string | null
  origin: TransactionOrigin
  customData: ICustomData | null
}

/** A completed card transaction. Only completed transactions can be refunded. */
export function makeTransaction(context: ObjectContext, fields: TransactionFields): ResellerTransaction {
  const madeAt = timeAt(context.nowMs)
  const { product, price } = fields.sold
  const totals = totalsOf(fields)
  const { subtotal, discount, tax, total } = totals
  return {
    id: makeId('txn', context),
    status: 'completed',
    customer_id: fields.customerId,
    address_id: fields.addressId,
    business_id: null,
    custom_data: fields.customData,
    currency_code: fields.currency,
    origin: fields.origin,
    subscription_id: fields.subscriptionId,
    invoice_id: makeId('inv', context),
    invoice_number: `325-${String(Math.floor(context.chance.next() * 90_000) + 10_000)}`,
    collection_mode: 'automatic',
    discount_id: null,
    billing_details: null,
    billing_period: null,
    items: [{ price_id: price.id, price, quantity: 1, proration: null }],
    details: {
      tax_rates_used: [{ tax_rate: String(TAX_RATE), totals: { subtotal, discount, tax, total } }],
      totals,
      adjusted_totals: null,
      payout_totals: null,
      adjusted_payout_totals: null,
      line_items: [
        {
          id: makeId('txnitm', context),
          price_id: price.id,
          quantity: 1,
          proration: null,
          tax_rate: String(TAX_RATE),
          unit_totals: { subtotal, discount, tax, total },
          totals: { subtotal, discount, tax, total },
          product,
        },
      ],
    },
    payments: [
      {
        payment_attempt_id: uuid(context),
        stored_payment_method_id: uuid(context),
        payment_method_id: makeId('paymtd', context),
        amount: total,
        status: 'captured',
        error_code: null,
        method_details: {
          type: 'card',
          card: { type: 'visa', last4: '4242', expiry_month: 8, expiry_year: 2031, cardholder_name: 'Sam Buyer' },
          paypal: null,
          south_korea_local_card: null,
          underlying_details: null,
        },
        created_at: madeAt,
        captured_at: madeAt,
      },
    ],
    checkout: { url: null },
    created_at: madeAt,
    updated_at: madeAt,
    billed_at: madeAt,
    revised_at: null,
  }
}

function totalsOf({ amount, currency }: TransactionFields): ITransactionTotalsResponse {
  const tax = taxWithin(amount)
  const fee = feeOf(amount)
  return {
    subtotal: money(amount - tax),
    discount: '0',
    tax: money(tax),
    total: money(amount),
    credit: '0',
    credit_to_balance: '0',
    balance: '0',
    grand_total: money(amount),
    grand_total_tax: money(tax),
    fee: money(fee),
    earnings: money(amount - tax - fee),
    currency_code: currency,
  }
}

function uuid({ chance }: ObjectContext): string {
  const hex = (length: number) => Array.from({ length }, () => Math.floor(chance.next() * 16).toString(16)).join('')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
}
