/** What can happen to paid money at the subscription biller: credits, and refunds on-line, by hand and of excess. */
import type { Books } from './account-state.ts'
import type { Actor } from './events.ts'
import { secondsOf } from './object-context.ts'
import { type BillerCreditNote, type CreditNoteReason, makeCreditNote } from './objects/credit-note.ts'
import { type BillerTransaction, makeRefund } from './objects/transaction.ts'
import { wrongState, wrongValue } from './refusal.ts'

/** How the money goes back. */
export interface RefundHow {
  by?: Actor
  /** Minor units; all that is left when left out. */
  amount?: number
  reason?: CreditNoteReason
  /** Card refunds take days at some gateways: `in_progress` until settleRefund. */
  status?: 'success' | 'in_progress'
  /** What the gateway calls the refund; made up when left out. With the card processor beside it, that refund's id. */
  idAtGateway?: string
  /** Recorded by hand: no gateway took part. */
  offline?: 'bank_transfer' | 'check' | 'cash'
}

export interface RefundActions {
  /** Credits an invoice and gives the money back. Leaves credit_note_created and payment_refunded. */
  refundInvoice(invoiceId: string, how?: RefundHow): { creditNote: BillerCreditNote; refund: BillerTransaction }
  /** Credits an invoice; nothing goes back by that. `adjustment` makes an unpaid invoice smaller. */
  issueCreditNote(
    invoiceId: string,
    how?: { by?: Actor; amount?: number; type?: BillerCreditNote['type']; reason?: CreditNoteReason },
  ): BillerCreditNote
  /** Gives back what a refundable credit note holds. Leaves payment_refunded and credit_note_updated. */
  refundCreditNote(creditNoteId: string, how?: RefundHow): BillerTransaction
  /** Uses a refundable credit note for an invoice. Leaves credit_note_updated. */
  allocateCreditNote(creditNoteId: string, invoiceId: string, by?: Actor): BillerCreditNote
  /** Gives back what a customer paid too much: no credit note is made. Leaves payment_refunded. */
  refundExcess(paymentId: string, how?: RefundHow): BillerTransaction
  /** A refund in progress ends, or a successful one comes back. Leaves transaction_updated. */
  settleRefund(
    refundId: string,
    status: 'success' | 'failure' | 'voided' | 'timeout' | 'late_failure',
  ): BillerTransaction
  /** The bank takes a payment back: credit note and refund for the reason `chargeback`. */
  chargeback(invoiceId: string, by?: Actor): { creditNote: BillerCreditNote; refund: BillerTransaction }
}

export const OPERATOR: Actor = { source: 'admin_console', user: 'ops@example.com' }
export const BY_ITSELF: Actor = { source: 'scheduled_job' }

/** Everything about refunds that a site can do. */
export function refundActions(books: Books): RefundActions {
  function credit(
    invoiceId: string,
    how: { amount?: number; type?: BillerCreditNote['type']; reason?: CreditNoteReason },
  ): BillerCreditNote {
    const invoice = books.invoices.existing(invoiceId)
    const notes = [...(invoice.issued_credit_notes ?? []), ...(invoice.adjustment_credit_notes ?? [])]
    const left = notes.reduce((rest, { cn_total }) => rest - (cn_total ?? 0), invoice.total)
    const amount = how.amount ?? left
    refuseAmount(amount, left, 'credit_note[total]')
    const id = books.nextNumber('CN')
    const type = how.type ?? 'refundable'
    const reason = how.reason ?? 'other'
    const note = books.creditNotes.put(makeCreditNote(books.making(), { id, invoice, amount, type, reason }))
    const member = type === 'adjustment' ? 'adjustment_credit_notes' : 'issued_credit_notes'
    const link = { cn_id: id, cn_reason_code: reason, cn_total: amount, cn_status: note.status }
    const dated = note.date === undefined ? link : { ...link, cn_date: note.date }
    books.invoices.change(invoiceId, { [member]: [...(invoice[member] ?? []), dated] })
    return note
  }

  /** The refund of a credit note's money, and the note as it is then. No event yet. */
  function payBack(note: BillerCreditNote, how: RefundHow, method?: 'chargeback') {
    const amount = how.amount ?? note.amount_available
    refuseAmount(amount, note.amount_available, 'transaction[amount]')
    const payment = paymentOf(books, note.reference_invoice_id ?? '')
    const refund = makeRefund(books.making(), {
      customerId: note.customer_id,
      subscriptionId: note.subscription_id,
      amount,
      currency: note.currency_code,
      status: how.status ?? 'success',
      method: method ?? how.offline ?? (payment.payment_method === 'direct_debit' ? 'direct_debit' : 'card'),
      idAtGateway: gatewayIdOf(books, how, method),
      refundedTransactionId: payment.id,
      creditNotes: [],
    })
    const creditNote = books.creditNotes.change(note.id, linkTo(note, refund))
    const linked = linkBack(creditNote, amount)
    return { creditNote, refund: keep({ ...refund, linked_credit_notes: [linked] }, payment.id) }
  }

  /** Keeps a refund, also where the payment names its refunds. */
  function keep(refund: BillerTransaction, paymentId: string): BillerTransaction {
    const linked = books.transactions.existing(paymentId).linked_refunds ?? []
    const others = linked.filter(link => link.txn_id !== refund.id)
    const { id, status, date, amount } = refund
    const link = { txn_id: id, txn_status: status, txn_date: date, txn_amount: amount }
    books.transactions.change(paymentId, { linked_refunds: [...others, link] })
    return books.transactions.put(refund)
  }

  function tellRefunded(refund: BillerTransaction, creditNote: BillerCreditNote | undefined, by: Actor): void {
    const subscription =
      refund.subscription_id === undefined ? undefined : books.subscriptions.get(refund.subscription_id)
    const invoice = creditNote && books.invoices.get(creditNote.reference_invoice_id ?? '')
    const content = {
      transaction: refund,
      ...(invoice === undefined ? {} : { invoice }),
      ...(creditNote === undefined ? {} : { credit_note: creditNote }),
      ...books.buyer(refund.customer_id ?? ''),
      ...(subscription === undefined ? {} : { subscription }),
    }
    const isStarted = refund.payment_method === 'direct_debit' && refund.status === 'in_progress'
    books.emit({ event_type: isStarted ? 'refund_initiated' : 'payment_refunded', content }, by)
  }

  return {
    refundInvoice(invoiceId, { by = OPERATOR, ...how } = {}) {
      const made = payBack(credit(invoiceId, how), withoutAmount(how))
      books.emit({ event_type: 'credit_note_created', content: { credit_note: made.creditNote } }, by)
      tellRefunded(made.refund, made.creditNote, by)
      return made
    },
    issueCreditNote(invoiceId, { by = OPERATOR, ...how } = {}) {
      const note = credit(invoiceId, how)
      books.emit({ event_type: 'credit_note_created', content: { credit_note: note } }, by)
      return note
    },
    refundCreditNote(creditNoteId, { by = OPERATOR, ...how } = {}) {
      const note = books.creditNotes.existing(creditNoteId)
      if (note.type !== 'refundable') throw wrongState(`The credit note ${creditNoteId} is not refundable`)
      const { creditNote, refund } = payBack(note, how)
      tellRefunded(refund, creditNote, by)
      books.emit({ event_type: 'credit_note_updated', content: { credit_note: creditNote } }, by)
      return refund
    },
    allocateCreditNote(creditNoteId, invoiceId, by = OPERATOR) {
      const note = books.creditNotes.existing(creditNoteId)
      const { date, status } = books.invoices.existing(invoiceId)
      const allocation = {
        invoice_id: invoiceId,
        allocated_amount: note.amount_available,
        allocated_at: secondsOf(books.making().nowMs),
        ...(date === undefined ? {} : { invoice_date: date }),
        invoice_status: status,
      }
      const after = books.creditNotes.change(creditNoteId, {
        status: 'adjusted',
        amount_allocated: note.amount_allocated + note.amount_available,
        amount_available: 0,
        allocations: [...note.allocations, allocation],
      })
      books.emit({ event_type: 'credit_note_updated', content: { credit_note: after } }, by)
      return after
    },
    refundExcess(paymentId, { by = OPERATOR, ...how } = {}) {
      const payment = books.transactions.existing(paymentId)
      const refund = makeRefund(books.making(), {
        customerId: payment.customer_id ?? '',
        subscriptionId: payment.subscription_id,
        amount: how.amount ?? payment.amount,
        currency: payment.currency_code,
        status: how.status ?? 'success',
        method: how.offline ?? 'card',
        idAtGateway: gatewayIdOf(books, how),
        refundedTransactionId: paymentId,
        creditNotes: [],
      })
      keep(refund, paymentId)
      tellRefunded(refund, undefined, by)
      return refund
    },
    settleRefund(refundId, status) {
      const { nowMs } = books.making()
      const settled = status === 'success' ? { settled_at: secondsOf(nowMs) } : {}
      const refund = books.transactions.change(refundId, { status, ...settled })
      keep(refund, refund.refunded_txn_id ?? refund.reference_transaction_id ?? '')
      for (const { cn_id } of refund.linked_credit_notes ?? []) {
        books.creditNotes.change(cn_id, settledLink(books.creditNotes.existing(cn_id), refund))
      }
      books.emit({ event_type: 'transaction_updated', content: { transaction: refund } }, BY_ITSELF)
      return refund
    },
    chargeback(invoiceId, by = { source: 'external_service', user: 'STRIPE' }) {
      const made = payBack(credit(invoiceId, { reason: 'chargeback' }), {}, 'chargeback')
      books.emit({ event_type: 'credit_note_created', content: { credit_note: made.creditNote } }, by)
      tellRefunded(made.refund, made.creditNote, by)
      return made
    },
  }
}

/** The amount was for the credit note; the refund gives back all of that. */
function withoutAmount({ amount, ...how }: RefundHow): RefundHow {
  return how
}

function gatewayIdOf(books: Books, how: RefundHow, method?: 'chargeback'): string | undefined {
  if (how.offline !== undefined || method !== undefined) return undefined
  return how.idAtGateway ?? `re_3${books.making().chance.text(23)}`
}

function paymentOf(books: Books, invoiceId: string): BillerTransaction {
  const [paid] = books.invoices.existing(invoiceId).linked_payments
  if (paid === undefined) throw wrongState(`The invoice ${invoiceId} has no payment that could be refunded`)
  return books.transactions.existing(paid.txn_id)
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

/** A refund that came to nothing gives its amount back to the credit note. */
function settledLink(note: BillerCreditNote, refund: BillerTransaction): Partial<BillerCreditNote> {
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
