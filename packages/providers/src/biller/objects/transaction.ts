import { type ObjectState, objectReference, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText } from '../../details.ts'
import {
  CurrencyCode,
  Detail,
  helpful,
  MinorUnits,
  nameObject,
  type ObjectMeaning,
  reading,
  stateIn,
  Text,
  UnixTime,
} from '../../object-fields.ts'
import type { MadeTime, Sighting } from '../../sighting.ts'
import { type BillerContext, customerOf, destinationOf, modeOf, pageOf } from './details.ts'
import { Version, versionOf } from './version.ts'

const Word = helpful(Text)
const OtherId = helpful(ProviderId)

export const Transaction = Version.extend({
  id: ProviderId,
  type: z.string(),
  status: helpful(z.string()),
  amount: MinorUnits.nullish(),
  currency_code: CurrencyCode.nullish(),
  date: helpful(UnixTime),
  gateway: Word,
  id_at_gateway: OtherId,
  payment_method: Word,
  subscription_id: OtherId,
  /** The refunded payment. For a refund that was only recorded, e.g. a cheque, `reference_transaction_id` has it. */
  refunded_txn_id: OtherId,
  reference_transaction_id: OtherId,
  linked_credit_notes: helpful(
    z.array(
      z.object({
        cn_id: OtherId,
        cn_reference_invoice_id: OtherId,
        cn_create_reason_code: Detail,
        cn_reason_code: Detail,
      }),
    ),
  ),
  customer_id: Detail,
  last4: Detail,
  masked_card_number: Detail,
  deleted: helpful(z.boolean()),
})
type Transaction = z.infer<typeof Transaction>

/**
 * The payment method of the refund that records a chargeback. Only recorded refunds, which move no money, have it
 * (`payment_method` in the types of chargebee-node 2).
 */
const CHARGEBACK_METHOD = 'chargeback'

/** The gateway of transactions that were only recorded. */
const NO_GATEWAY = 'not_applicable'
/** The payment methods of refunds that people make outside of the biller, and record. */
const RECORDED_METHODS: readonly unknown[] = ['cash', 'check', 'bank_transfer', 'chargeback', 'other', 'custom']

/** The biller's name of the card processor as a gateway. Refunds through it also have an id at the processor. */
const PROCESSOR_GATEWAY = 'stripe'

/** Normalises a transaction. Every transaction of type refund is a refund, also a recorded cheque, except for a chargeback. */
export const meaningOfTransaction: ObjectMeaning<BillerContext> = (context, object) =>
  reading('transaction', Transaction, object, transaction => {
    const createdAt = transaction.date ?? context.shownAt
    if (createdAt === null) return { kind: 'malformed', reason: 'transaction.date: No time is given' }
    const common = {
      ...nameObject(context, 'subscription', 'transaction', transaction.id, belongsTo(transaction)),
      providerRef: transaction.id,
      amount: transaction.amount ?? null,
      currency: transaction.currency_code ?? null,
      state: transaction.deleted === true ? ('canceled' as const) : stateOfTransaction(transaction.status),
      stateVersion: versionOf(transaction),
      createdAt,
      ...transactionDetails(context, transaction),
    }
    const dispute: Sighting = { kind: 'record', record: 'dispute', ...common }
    switch (transaction.type) {
      case 'refund': {
        if (transaction.payment_method === CHARGEBACK_METHOD) return { kind: 'observed', sightings: [dispute] }
        const gatewayRefs = gatewayRefsOf(transaction)
        // The processor's id makes events of both providers about the refund belong to one case.
        const atGateway = gatewayRefs.map(id => objectReference(context.projectId, 'processor', undefined, id))
        const refund: Sighting = {
          kind: 'action',
          action: 'refund',
          ...common,
          refs: [...common.refs, ...atGateway],
          gatewayRefs,
          creditNoteIds: creditNoteIdsOf(transaction),
          made: madeTimeOf(context, transaction, createdAt),
          idempotencyKey: null,
        }
        return { kind: 'observed', sightings: [refund] }
      }
      case 'payment_reversal':
        // A chargeback, or a direct debit that the bank returned late.
        return { kind: 'observed', sightings: [dispute] }
      default:
        return { kind: 'ignored', reason: `Transactions of type ${transaction.type} are not judged` }
    }
  })

/**
 * When the refund was made. A refund through a gateway has the biller's own date. Whoever records another refund chooses its date,
 * so only its event, or else its last change, says when that was.
 */
function madeTimeOf({ event, shownAt }: BillerContext, transaction: Transaction, date: number): MadeTime {
  const { gateway, payment_method } = transaction
  const isRecorded = gateway === null || gateway === NO_GATEWAY || RECORDED_METHODS.includes(payment_method)
  const at = event?.creation?.at ?? null
  return isRecorded ? { at, by: at ?? versionOf(transaction) ?? shownAt ?? date, isDateChosen: true } : { at, by: date }
}

function transactionDetails(context: BillerContext, transaction: Transaction) {
  const [note] = transaction.linked_credit_notes ?? []
  return detailsOf({
    origin: context.event?.origin ?? undefined,
    customer: customerOf(context, transaction.customer_id),
    payment: {
      number: context.event?.invoice ?? shownText(note?.cn_reference_invoice_id),
      plan: context.event?.plan ?? null,
      // The first is the reason that the site defines, the second is the biller's own.
      refund_reason: shownText(note?.cn_create_reason_code) ?? shownText(note?.cn_reason_code),
      destination: destinationOf(context, shownText(transaction.payment_method), lastDigitsOf(transaction)),
    },
    mode: modeOf(context),
    dashboardUrl: pageOf(context, 'transactions', transaction.id),
  })
}

function lastDigitsOf({ last4, masked_card_number }: Transaction): string | null {
  return shownText(last4) ?? /\d{4}$/.exec(shownText(masked_card_number) ?? '')?.[0] ?? null
}

function creditNoteIdsOf({ linked_credit_notes }: Transaction): string[] {
  return [...new Set((linked_credit_notes ?? []).flatMap(note => note.cn_id ?? []))]
}

/** Ids that an operation may name: the subscription, or else the invoice; then the payment and the credit notes paid out. */
function belongsTo(transaction: Transaction): (string | null)[] {
  const notes = transaction.linked_credit_notes ?? []
  const invoices = notes.map(note => note.cn_reference_invoice_id)
  const payment = transaction.refunded_txn_id ?? transaction.reference_transaction_id
  return [transaction.subscription_id, ...invoices, payment, ...notes.map(note => note.cn_id)]
}

function gatewayRefsOf(transaction: Transaction): string[] {
  const { gateway, id_at_gateway } = transaction
  return gateway === PROCESSOR_GATEWAY && id_at_gateway !== null ? [id_at_gateway] : []
}

/**
 * The state of a refund transaction. For cards `in_progress` may last for days. `needs_attention` is not final, because a person
 * must check the gateway.
 */
export function stateOfTransaction(status: string | null): ObjectState {
  return stateIn(STATES, status)
}

const STATES: Readonly<Record<string, ObjectState>> = {
  success: 'succeeded',
  needs_attention: 'requires_action',
  failure: 'failed',
  late_failure: 'failed',
  timeout: 'failed',
  voided: 'canceled',
}
