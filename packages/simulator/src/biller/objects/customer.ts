import type { Card, Customer } from 'chargebee'
import { nameOfCustomer } from '../../people.ts'
import { makeId, type ObjectContext, secondsOf, versionOf } from '../object-context.ts'

/** A customer as in the API and in events. */
export type BillerCustomer = Customer & { object: 'customer'; card_status: 'valid' | 'no_card' }

/** A card as in the API and in events. */
export type BillerCard = Card & { object: 'card' }

/** What a site knows of a person. */
export type Person = Pick<BillerCustomer, 'first_name' | 'last_name' | 'email'>

/** A customer who pays by card. @param person a made-up person by default */
export function makeCustomer(context: ObjectContext, person: Person = {}): BillerCustomer {
  const id = context.chance.text(16)
  const [first_name, last_name] = nameOfCustomer(id)
  return {
    id,
    object: 'customer',
    first_name,
    last_name,
    email: `buyer-${context.chance.text(6).toLowerCase()}@shop.example`,
    ...person,
    auto_collection: 'on',
    net_term_days: 0,
    allow_direct_debit: false,
    created_at: secondsOf(context.nowMs),
    taxability: 'taxable',
    pii_cleared: 'active',
    channel: 'web',
    card_status: 'valid',
    preferred_currency_code: 'EUR',
    promotional_credits: 0,
    unbilled_charges: 0,
    refundable_credits: 0,
    excess_payments: 0,
    deleted: false,
    ...versionOf(context),
  }
}

/** The customer's card at the gateway. */
export function makeCard(context: ObjectContext, customerId: string): BillerCard {
  return {
    payment_source_id: makeId('pm', context),
    object: 'card',
    status: 'valid',
    gateway: 'stripe',
    gateway_account_id: 'gw_16BthSM04GsW8lyy',
    iin: '424242',
    last4: '4242',
    card_type: 'visa',
    funding_type: 'credit',
    expiry_month: 8,
    expiry_year: 2031,
    created_at: secondsOf(context.nowMs),
    customer_id: customerId,
    masked_number: '************4242',
    ...versionOf(context),
  }
}
