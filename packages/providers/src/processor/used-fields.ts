import { fields, fieldsOf, type UsedFields, type UsedFieldsOfTypes } from '../used-fields.ts'
import { Charge } from './objects/charge.ts'
import { Dispute } from './objects/dispute.ts'
import { Refund } from './objects/refund.ts'
import { Schedule } from './objects/schedule.ts'
import { Subscription } from './objects/subscription.ts'

const ID = fields('id')
const CUSTOMER = fields('id', 'name', 'email')

const CHARGE: UsedFields = {
  ...fieldsOf(Charge),
  ...fields('livemode', 'receipt_email', 'receipt_number'),
  customer: CUSTOMER,
  payment_intent: ID,
  billing_details: fields('name', 'email'),
  // The fields of a method are in a field with the name of its type.
  payment_method_details: { type: true, '*': fields('brand', 'last4') },
}
const REFUND: UsedFields = {
  ...fieldsOf(Refund),
  charge: CHARGE,
  customer: CUSTOMER,
  payment_intent: ID,
  failure_balance_transaction: ID,
  destination_details: fields('type'),
}
const SCHEDULE: UsedFields = {
  ...fieldsOf(Schedule),
  customer: CUSTOMER,
  subscription: ID,
  released_subscription: ID,
  phases: fields('end_date'),
}
const SUBSCRIPTION: UsedFields = {
  ...fieldsOf(Subscription),
  customer: CUSTOMER,
  default_payment_method: ID,
  default_source: ID,
  schedule: ID,
  latest_invoice: fields('id', 'number'),
  items: {
    data: { current_period_end: true, price: { ...fields('nickname', 'lookup_key'), product: fields('id', 'name') } },
  },
}

/** The used fields of the processor's objects. */
export const USED_FIELDS: UsedFieldsOfTypes = {
  refund: REFUND,
  charge: { ...CHARGE, refunds: { data: REFUND } },
  subscription: SUBSCRIPTION,
  subscription_schedule: SCHEDULE,
  dispute: { ...fieldsOf(Dispute), charge: ID, payment_intent: ID },
  // Events of refunds, of schedules, and thin events of ended subscriptions are read.
  event: {
    ...fields('id', 'object', 'type', 'created', 'livemode', 'request', 'account'),
    reason: {
      request: { ...fields('id', 'idempotency_key'), client: { api_key: ID, dashboard_user: fields('email') } },
    },
    data: { previous_attributes: fieldsOf(Schedule), object: { ...SUBSCRIPTION, ...SCHEDULE, ...REFUND } },
  },
}
