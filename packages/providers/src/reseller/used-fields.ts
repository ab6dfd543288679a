import { fields, fieldsOf, type UsedFieldsOfTypes } from '../used-fields.ts'
import { Adjustment } from './objects/adjustment.ts'
import { Subscription } from './objects/subscription.ts'

/** The used fields of the transaction that a second look adds to an object. */
const transaction = { ...fields('invoice_number'), customer: fields('id', 'name', 'email') }

/** The used fields of the reseller's objects. */
export const USED_FIELDS: UsedFieldsOfTypes = {
  adjustment: { ...fieldsOf(Adjustment), totals: fields('total'), transaction },
  subscription: {
    ...fieldsOf(Subscription),
    transaction,
    items: {
      trial_dates: fields('ends_at'),
      price: { ...fields('name', 'description'), trial_period: fields('requires_payment_method') },
      product: fields('name'),
    },
  },
}
