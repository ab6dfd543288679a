import { fields, fieldsOf, type UsedFieldsOfTypes } from '../used-fields.ts'
import { CreditNote } from './objects/credit-note.ts'
import { Subscription } from './objects/subscription.ts'
import { Transaction } from './objects/transaction.ts'

const PERSON = fields('first_name', 'last_name', 'company', 'email')
const SUBSCRIPTION = { ...fieldsOf(Subscription), subscription_items: fields('item_price_id', 'item_type') }

/** The used fields of the biller's objects. */
export const USED_FIELDS: UsedFieldsOfTypes = {
  transaction: fieldsOf(Transaction),
  credit_note: fieldsOf(CreditNote),
  subscription: SUBSCRIPTION,
  event: {
    ...fields('id', 'event_type', 'occurred_at', 'source', 'user', 'origin_user'),
    content: {
      transaction: fieldsOf(Transaction),
      credit_note: fieldsOf(CreditNote),
      subscription: SUBSCRIPTION,
      customer: { id: true, ...PERSON, billing_address: PERSON },
      invoice: fields('id'),
      card: fields('card_type', 'last4'),
    },
  },
}
