/** Credits and refunds at the subscription biller: online, recorded by hand, and of excess payments. */
import type { AccountState } from './account-state.ts'
import type { Actor } from './events.ts'
import { secondsOf } from './object-context.ts'
import { type BillerCreditNote, type CreditNoteReason, makeCreditNote } from './objects/credit-note.ts'
import { type BillerTransaction, makeRefund } from './objects/transaction.ts'
import { wrongState, wrongValue } from './refusal.ts'

/** Options of a refund. */
export interface RefundOptions {
  by?: Actor
  /** Minor units. By default the part that is not refunded yet. */
  amount?: number
  reason?: CreditNoteReason
  /** The first status. `in_progress` lasts until settleRefund, because card refunds take days at some gateways. */
  status?: 'success' | 'in_progress'
  /** The refund's id at the gateway; random by default. With the card processor as the gateway, the id of its refund. */
  idAtGateway?: string
  /** The method of a refund that is recorded by hand, without a gateway. */
  offline?: 'bank_transfer' | 'check' | 'cash'
  /** The date that a person gives to a refund that is recorded by hand, in milliseconds since the epoch; now by default. */
  dateMs?: number
}

export interface RefundActions {
  /** Credits an invoice and refunds the money. Emits credit_note_created and payment_refunded. */
  refundInvoice(invoiceId: string, how?: RefundOptions): { creditNote: BillerCreditNote; refund: BillerTransaction }
  /** Credits an invoice without a refund. `adjustment` reduces an unpaid invoice. */
  issueCreditNote(
    invoiceId: string,
    how?: { by?: Actor; amount?: number; type?: BillerCreditNote['type']; reason?: CreditNoteReason },
  ): BillerCreditNote
  /** Refunds the money of a refundable credit note. Emits payment_refunded and credit_note_updated. */
  refundCreditNote(creditNoteId: string, how?: RefundOptions): BillerTransaction
  /** Uses a refundable credit note for an invoice. Emits credit_note_updated. */
  allocateCreditNote(creditNoteId: string, invoiceId: string, by?: Actor): BillerCreditNote
  /** Refunds an excess payment, without a credit note. Emits payment_refunded. */
  refundExcess(paymentId: string, how?: RefundOptions): BillerTransaction
  /** Ends a refund in progress, or makes a successful one fail. Emits transaction_updated. */
  settleRefund(
    refundId: string,
    status: 'success' | 'failure' | 'voided' | 'timeout' | 'late_failure',
  ): BillerTransaction
  /** Records a chargeback: a credit note and a refund with the reason `chargeback`. */
  chargeback(invoiceId: string, by?: Actor): { creditNote: BillerCreditNote; refund: BillerTransaction }
}

export const OPERATOR: Actor = { source: 'admin_console', user: 'ops@example.com' }
export const BY_ITSELF: Actor = { source: 'scheduled_job' }

/** The refund operations of a site. */
export function refundActions(state: AccountState): RefundActions {
  return {
    refundInvoice(invoiceId, { by = OPERATOR, ...how } = {}) {
      const made = payBack(state, credit(state, invoiceId, how), withoutAmount(how))
      state.emit({ event_type: 'credit_note_created', content: { credit_note: made.creditNote } }, by)
      emitRefunded(state, made.refund, made.creditNote, by)
      return made
    },
    issueCreditNote(invoiceId, { by = OPERATOR, ...how } = {}) {
      const note = credit(state, invoiceId, how)
      state.emit({ event_type: 'credit_note_created', content: { credit_note: note } }, by)
      return note
    },
    refundCreditNote(creditNoteId, { by = OPERATOR, ...how } = {}) {
      const note = state.creditNotes.existing(creditNoteId)
      if (note.type !== 'refundable') throw wrongState(`The credit note ${creditNoteId} is not refundable`)
      const { creditNote, refund } = payBack(state, note, how)
      emitRefunded(state, refund, creditNote, by)
      state.emit({ event_type: 'credit_note_updated', content: { credit_note: creditNote } }, by)
      return refund
    },
    allocateCreditNote(creditNoteId, invoiceId, by = OPERATOR) {
      const note = state.creditNotes.existing(creditNoteId)
      const { date, status } = state.invoices.existing(invoiceId)
      const allocation = {
        invoice_id: invoiceId,
        allocated_amount: note.amount_available,
        allocated_at: secondsOf(state.context().nowMs),
        ...(date === undefined ? {} : { invoice_date: date }),
        invoice_status: status,
      }
      const after = state.creditNotes.change(creditNoteId, {
        status: 'adjusted',
        amount_allocated: note.amount_allocated + note.amount_available,
        amount_available: 0,
        allocations: [...note.allocations, allocation],
      })
      state.emit({ event_type: 'credit_note_updated', content: { credit_note: after } }, by)
      return after
    },
    refundExcess(paymentId, { by = OPERATOR, ...how } = {}) {
      const payment = state.transactions.existing(paymentId)
      const refund = makeRefund(state.context(), {
        customerId: payment.customer_id ?? '',
        subscriptionId: payment.subscription_id,
        amount: how.amount ?? payment.amount,
        currency: payment.currency_code,
        status: how.status ?? 'success',
        method: how.offline ?? 'card',
        idAtGateway: gatewayIdOf(state, how),
        refundedTransactionId: paymentId,
        dateMs: how.dateMs,
        creditNotes: [],
      })
      keep(state, refund, paymentId)
      emitRefunded(state, refund, undefined, by)
      return refund
    },
    settleRefund(refundId, status) {
      const { nowMs } = state.context()
      const settlement = status === 'success' ? { settled_at: secondsOf(nowMs) } : {}
      const refund = state.transactions.change(refundId, { status, ...settlement })
      keep(state, refund, refund.refunded_txn_id ?? refund.reference_transaction_id ?? '')
      for (const { cn_id } of refund.linked_credit_notes ?? []) {
        state.creditNotes.change(cn_id, paidLink(state.creditNotes.existing(cn_id), refund))
      }
      state.emit({ event_type: 'transaction_updated', content: { transaction: refund } }, BY_ITSELF)
      return refund
    },
    chargeback(invoiceId, by = { source: 'external_service', user: 'STRIPE' }) {
      const made = payBack(state, credit(state, invoiceId, { reason: 'chargeback' }), {}, 'chargeback')
      state.emit({ event_type: 'credit_note_created', content: { credit_note: made.creditNote } }, by)
      emitRefunded(state, made.refund, made.creditNote, by)
      return made
    },
  }
}

function credit(
  state: AccountState,
  invoiceId: string,
  how: { amount?: number; type?: BillerCreditNote['type']; reason?: CreditNoteReason },
): BillerCreditNote {
  const invoice = state.invoices.existing(invoiceId)
  const notes = [...(invoice.issued_credit_notes ?? []), ...(invoice.adjustment_credit_notes ?? [])]
  const left = notes.reduce((rest, { cn_total }) => rest - (cn_total ?? 0), invoice.total)
  const amount = how.amount ?? left
  refuseAmount(amount, left, 'credit_note[total]')
  const id = state.nextNumber('CN')
  const type = how.type ?? 'refundable'
  const reason = how.reason ?? 'other'
  const note = state.creditNotes.put(makeCreditNote(state.context(), { id, invoice, amount, type, reason }))
  const member = type === 'adjustment' ? 'adjustment_credit_notes' : 'issued_credit_notes'
  const link = { cn_id: id, cn_reason_code: reason, cn_total: amount, cn_status: note.status }
  const dated = note.date === undefined ? link : { ...link, cn_date: note.date }
  state.invoices.change(invoiceId, { [member]: [...(invoice[member] ?? []), dated] })
  return note
}

/** The refund of a credit note, and the changed credit note. Emits nothing. */
function payBack(state: AccountState, note: BillerCreditNote, how: RefundOptions, method?: 'chargeback') {
  const amount = how.amount ?? note.amount_available
  refuseAmount(amount, note.amount_available, 'transaction[amount]')
  const payment = paymentOf(state, note.reference_invoice_id ?? '')
  const refund = makeRefund(state.context(), {
    customerId: note.customer_id,
    subscriptionId: note.subscription_id,
    amount,
    currency: note.currency_code,
    status: how.status ?? 'success',
    method: method ?? how.offline ?? (payment.payment_method === 'direct_debit' ? 'direct_debit' : 'card'),
    idAtGateway: gatewayIdOf(state, how, method),
    refundedTransactionId: payment.id,
    dateMs: how.dateMs,
    creditNotes: [],
  })
  const creditNote = state.creditNotes.change(note.id, linkTo(note, refund))
  const linked = linkBack(creditNote, amount)
  return { creditNote, refund: keep(state, { ...refund, linked_credit_notes: [linked] }, payment.id) }
}

/** Adds a refund, also to the list of refunds in its payment. */
function keep(state: AccountState, refund: BillerTransaction, paymentId: string): BillerTransaction {
  const linked = state.transactions.existing(paymentId).linked_refunds ?? []
  const others = linked.filter(link => link.txn_id !== refund.id)
  const { id, status, date, amount } = refund
  const link = { txn_id: id, txn_status: status, txn_date: date, txn_amount: amount }
  state.transactions.change(paymentId, { linked_refunds: [...others, link] })
  return state.transactions.put(refund)
}

function emitRefunded(
  state: AccountState,
  refund: BillerTransaction,
  creditNote: BillerCreditNote | undefined,
  by: Actor,
): void {
  const subscription =
    refund.subscription_id === undefined ? undefined : state.subscriptions.get(refund.subscription_id)
  const invoice = creditNote && state.invoices.get(creditNote.reference_invoice_id ?? '')
  const content = {
    transaction: refund,
    ...(invoice === undefined ? {} : { invoice }),
    ...(creditNote === undefined ? {} : { credit_note: creditNote }),
    ...state.buyer(refund.customer_id ?? ''),
    ...(subscription === undefined ? {} : { subscription }),
  }
  const isStarted = refund.payment_method === 'direct_debit' && refund.status === 'in_progress'
  state.emit({ event_type: isStarted ? 'refund_initiated' : 'payment_refunded', content }, by)
}

/** The options without an amount, because the refund returns the whole amount of its credit note. */
function withoutAmount({ amount, ...how }: RefundOptions): RefundOptions {
  return how
}

function gatewayIdOf(state: AccountState, how: RefundOptions, method?: 'chargeback'): string | undefined {
  if (how.offline !== undefined || method !== undefined) return undefined
  return how.idAtGateway ?? `re_3${state.context().chance.text(23)}`
}

function paymentOf(state: AccountState, invoiceId: string): BillerTransaction {
  const [paid] = state.invoices.existing(invoiceId).linked_payments
  if (paid === undefined) throw wrongState(`The invoice ${invoiceId} has no payment that could be refunded`)
  return state.transactions.existing(paid.txn_id)
}

function linkTo(note: BillerCreditNote, refund: BillerTransaction): Partial<BillerCreditNote> {
  const available = note.amount_available - refund.amount
  const link = {
    txn_id: refund.id,
    applied_amount: refund.amount,
    applied_at: refund.date,
    txn_status: refund.status,
    txn_date: refund.date,
    txn_amount: refund.amount,
  }
  return {
    status: available === 0 ? 'refunded' : 'refund_due',
    amount_refunded: note.amount_refunded + refund.amount,
    amount_available: available,
    ...(available === 0 ? { refunded_at: refund.date } : {}),
    linked_refunds: [...note.linked_refunds, link],
  }
}

function linkBack(note: BillerCreditNote, amount: number) {
  return {
    cn_id: note.id,
    applied_amount: amount,
    applied_at: note.date ?? 0,
    cn_reason_code: note.reason_code,
    ...(note.create_reason_code === undefined ? {} : { cn_create_reason_code: note.create_reason_code }),
    ...(note.date === undefined ? {} : { cn_date: note.date }),
    cn_total: note.total,
    cn_status: note.status,
    ...(note.reference_invoice_id === undefined ? {} : { cn_reference_invoice_id: note.reference_invoice_id }),
  }
}

/** A failed refund returns its amount to the credit note. */
function paidLink(note: BillerCreditNote, refund: BillerTransaction): Partial<BillerCreditNote> {
  const linked_refunds = note.linked_refunds.map(link =>
    link.txn_id === refund.id ? { ...link, txn_status: refund.status } : link,
  )
  if (refund.status === 'success') return { linked_refunds }
  return {
    linked_refunds,
    status: 'refund_due',
    amount_refunded: note.amount_refunded - refund.amount,
    amount_available: note.amount_available + refund.amount,
  }
}

function refuseAmount(amount: number, left: number, param: string): void {
  if (!Number.isSafeInteger(amount) || amount < 1) throw wrongValue(param, 'cannot be less than 1')
  if (amount > left) throw wrongValue(param, `cannot be more than ${left}`)
}
