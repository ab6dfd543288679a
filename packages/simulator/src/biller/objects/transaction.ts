import type { Transaction } from 'chargebee'
import { makeId, type ObjectContext, secondsOf, versionOf } from '../object-context.ts'

/** A payment or a refund as in the API and in events. */
export type BillerTransaction = Transaction & {
  object: 'transaction'
  base_currency_code: string
  amount: number
  date: number
  status: NonNullable<Transaction['status']>
}

export interface TransactionFields {
  customerId: string
  subscriptionId: string | undefined
  /** Minor units. */
  amount: number
  currency: string
  status: BillerTransaction['status']
  /** The payment method. `card` and direct debit go through the gateway; transactions with other methods are recorded by hand. */
  method: 'card' | 'direct_debit' | 'bank_transfer' | 'check' | 'cash' | 'chargeback'
  /** The transaction's id at the gateway, e.g. `re_…`; absent if it was recorded by hand. */
  idAtGateway: string | undefined
}

/** A payment of an invoice. */
export function makePayment(
  context: ObjectContext,
  fields: TransactionFields & { invoiceId: string; invoiceTotal: number },
): BillerTransaction {
  const { amount } = fields
  return {
    ...makeTransaction(context, fields),
    type: 'payment',
    amount_unused: 0,
    linked_invoices: [
      {
        invoice_id: fields.invoiceId,
        applied_amount: amount,
        applied_at: secondsOf(context.nowMs),
        invoice_date: secondsOf(context.nowMs),
        invoice_total: fields.invoiceTotal,
        invoice_status: fields.status === 'success' ? 'paid' : 'payment_due',
      },
    ],
    linked_refunds: [],
  }
}

/** A refund of a payment. */
export function makeRefund(
  context: ObjectContext,
  fields: TransactionFields & {
    refundedTransactionId: string
    /** The date of a refund that is recorded by hand; undefined for now. */
    dateMs: number | undefined
    creditNotes: NonNullable<Transaction['linked_credit_notes']>
  },
): BillerTransaction {
  const isOffline = fields.method !== 'card' && fields.method !== 'direct_debit'
  return {
    ...makeTransaction(context, fields),
    type: 'refund',
    ...(isOffline && fields.dateMs !== undefined ? { date: secondsOf(fields.dateMs) } : {}),
    ...(isOffline
      ? { reference_transaction_id: fields.refundedTransactionId }
      : { refunded_txn_id: fields.refundedTransactionId }),
    linked_credit_notes: fields.creditNotes,
  }
}

function makeTransaction(context: ObjectContext, fields: TransactionFields): Omit<BillerTransaction, 'type'> {
  const date = secondsOf(context.nowMs)
  const { idAtGateway } = fields
  return {
    id: makeId('txn', context),
    object: 'transaction',
    customer_id: fields.customerId,
    ...(fields.subscriptionId === undefined ? {} : { subscription_id: fields.subscriptionId }),
    payment_method: fields.method,
    gateway: idAtGateway === undefined ? 'not_applicable' : 'stripe',
    ...(idAtGateway === undefined ? {} : { gateway_account_id: 'gw_16BthSM04GsW8lyy', id_at_gateway: idAtGateway }),
    date,
    ...(fields.status === 'success' ? { settled_at: date } : {}),
    status: fields.status,
    amount: fields.amount,
    currency_code: fields.currency,
    base_currency_code: fields.currency,
    exchange_rate: 1,
    ...(fields.method === 'card' ? { masked_card_number: '************4242', iin: '424242', last4: '4242' } : {}),
    initiator_type: 'merchant',
    three_d_secure: false,
    deleted: false,
    ...versionOf(context),
  }
}
