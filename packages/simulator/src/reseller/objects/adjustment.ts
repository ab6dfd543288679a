import type {
  AdjustmentAction,
  IAdjustmentNotificationResponse,
  IAdjustmentResponse,
  ITaxRatesUsedResponse,
} from '@paddle/paddle-node-sdk'
import { feeOf, makeId, money, type ObjectContext, TAX_RATE, taxWithin, timeAt } from '../object-context.ts'
import type { ResellerTransaction } from './transaction.ts'

/** An adjustment as in the API and in events. It also has the tax rates, which the official types omit. */
export type ResellerAdjustment = IAdjustmentResponse &
  IAdjustmentNotificationResponse & { tax_rates_used: ITaxRatesUsedResponse[] }

export interface AdjustmentFields {
  transaction: ResellerTransaction
  action: AdjustmentAction
  /** Minor units, including tax. */
  amount: number
  isFull: boolean
  reason: string
  status: 'pending_approval' | 'approved'
  /** True if the amount goes to the customer's balance, as for credits on paid transactions. */
  toBalance: boolean
  /** `proration` for the credit of a downgrade in mid-cycle. */
  itemType: 'full' | 'partial' | 'proration'
}

/** A new adjustment of one item of a transaction. */
export function makeAdjustment(context: ObjectContext, fields: AdjustmentFields): ResellerAdjustment {
  const { transaction } = fields
  const madeAt = timeAt(context.nowMs)
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
    id: makeId('adj', context),
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
        id: makeId('adjitm', context),
        item_id: transaction.details?.line_items[0]?.id ?? '',
        type: fields.itemType,
        amount: money(fields.amount),
        proration: fields.itemType === 'proration' ? { rate: '0.5', billing_period: null } : null,
        totals,
      },
    ],
    totals: { ...totals, retained_fee: '0' },
    // The real field is set when the money is paid out, which the simulator does not simulate.
    payout_totals: null,
    tax_rates_used: [{ tax_rate: String(TAX_RATE), totals: { ...amounts, discount: '0' } }],
    created_at: madeAt,
    updated_at: madeAt,
  }
}
