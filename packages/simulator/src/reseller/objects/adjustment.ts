import type {
  AdjustmentAction,
  IAdjustmentNotificationResponse,
  IAdjustmentResponse,
  ITaxRatesUsedResponse,
} from '@paddle/paddle-node-sdk'
import { feeOf, type Making, makeId, money, TAX_RATE, taxWithin, timeAt } from '../object-context.ts'
import type { ResellerTransaction } from './transaction.ts'

/** An adjustment as the API and the events show it. The tax rates are sent too, although the official types omit them. */
export type ResellerAdjustment = IAdjustmentResponse &
  IAdjustmentNotificationResponse & { tax_rates_used: ITaxRatesUsedResponse[] }

export interface AdjustmentFields {
  transaction: ResellerTransaction
  action: AdjustmentAction
  /** Minor units, tax within. */
  amount: number
  isFull: boolean
  reason: string
  status: 'pending_approval' | 'approved'
  /** Whether the amount went to the customer's balance: credits on what was already paid do. */
  toBalance: boolean
  /** `proration` is what a downgrade in mid-cycle credits. */
  itemType: 'full' | 'partial' | 'proration'
}

/** An adjustment of one item of a transaction, in the state in which it is created. */
export function makeAdjustment(making: Making, fields: AdjustmentFields): ResellerAdjustment {
  const { transaction } = fields
  const madeAt = timeAt(making.nowMs)
  const tax = taxWithin(fields.amount)
  const fee = feeOf(fields.amount)
  const amounts = { subtotal: money(fields.amount - tax), tax: money(tax), total: money(fields.amount) }
  const totals = {
    ...amounts,
    fee: money(fee),
    earnings: money(fields.amount - tax - fee),
    currency_code: transaction.currency_code,
  }
  return {
    id: makeId('adj', making),
    action: fields.action,
    type: fields.isFull ? 'full' : 'partial',
    transaction_id: transaction.id,
    subscription_id: transaction.subscription_id ?? null,
    customer_id: transaction.customer_id ?? '',
    reason: fields.reason,
    credit_applied_to_balance: fields.toBalance,
    currency_code: transaction.currency_code,
    status: fields.status,
    items: [
      {
        id: makeId('adjitm', making),
        item_id: transaction.details?.line_items[0]?.id ?? '',
        type: fields.itemType,
        amount: money(fields.amount),
        proration: fields.itemType === 'proration' ? { rate: '0.5', billing_period: null } : null,
        totals,
      },
    ],
    totals: { ...totals, retained_fee: '0' },
    // Made out when the money is paid out, which is after everything that matters here.
    payout_totals: null,
    tax_rates_used: [{ tax_rate: String(TAX_RATE), totals: { ...amounts, discount: '0' } }],
    created_at: madeAt,
    updated_at: madeAt,
  }
}
