/** The biller's objects, as an account at the simulator makes them. */
import { createBiller, createChance } from '@backstop/simulator'
import { withFixedValues } from './with-fixed-values.ts'

let seconds = 1_763_900_000
const account = createBiller({ now: () => seconds * 1_000, chance: createChance(1) })
const person = { first_name: 'Sam', last_name: 'Buyer', email: 'buyer@shop.example' }
const sold = account.subscribe({ id: 'sub-77', amount: 4999, person })
seconds = 1_764_000_190
const note = account.issueCreditNote(sold.invoice.id, { amount: 2499, reason: 'service_unsatisfactory' })
seconds = 1_764_000_199
const refund = account.refundCreditNote(note.id, { idAtGateway: 're_3Q' })
const records = account.asOf(seconds * 1_000)
const chargeback = account.chargeback(sold.invoice.id)

const VALUES = {
  [refund.id]: 'txn_16Aa',
  [chargeback.refund.id]: 'txn_16Cb',
  [sold.payment.id]: 'txn_15Zz',
  [note.id]: 'CN-204',
  [chargeback.creditNote.id]: 'CN-205',
  [sold.invoice.id]: 'INV-88',
  [sold.customer.id]: 'cus-9',
}

/** A refund of 24.99 EUR through the card processor, where it is re_3Q. */
export const REFUND = withFixedValues(refund, VALUES)
/** The offline refund by which the biller records a chargeback. Only such a transaction has the payment method `chargeback`. */
export const CHARGEBACK = withFixedValues(chargeback.refund, VALUES)
/** A credit of 24.99 EUR of which nothing is refunded yet. */
export const CREDIT_NOTE = withFixedValues(note, VALUES)
/** CREDIT_NOTE after its refund. */
export const REFUNDED_NOTE = withFixedValues(existing(records.creditNotes.get(note.id)), VALUES)
/** The invoice that is credited. */
export const INVOICE = withFixedValues(sold.invoice, VALUES)
/** An active monthly subscription. */
export const SUBSCRIPTION = withFixedValues(sold.subscription, VALUES)
/** The sample customer. */
export const CUSTOMER = withFixedValues(sold.customer, VALUES)
/** The sample card. */
export const CARD = withFixedValues(existing(records.cards.get(sold.customer.id)), VALUES)

function existing<T>(object: T | undefined): T {
  if (object === undefined) throw new Error('The simulator has no such object')
  return object
}
