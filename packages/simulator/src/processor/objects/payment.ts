/**
 * The objects of a card payment with all required fields of the API version, which the official types check. The values are those
 * of a plain card payment in test mode.
 */
import type Stripe from 'stripe'
import { nameOfCustomer } from '../../people.ts'
import type { ObjectContext } from '../object-context.ts'

export interface PaymentRequest {
  /** Minor units of `currency`. */
  amount: number
  /** ISO 4217 in any case. Objects have it in lower case, like real objects. */
  currency: string
  /** The customer; a new one by default. */
  customer?: Stripe.Customer
  email?: string
  /** The name of the new customer; a made-up one by default. */
  name?: string
  description?: string
  metadata?: Record<string, string>
}

/** A paid payment: its payment intent, charge and customer. */
export interface Payment {
  customer: Stripe.Customer
  paymentIntent: Stripe.PaymentIntent
  charge: Stripe.Charge
}

/** A customer with a name and an e-mail address. */
function makeCustomer({ chance, created, livemode }: ObjectContext, email: string, name?: string): Stripe.Customer {
  const id = `cus_${chance.text(14)}`
  return {
    id,
    object: 'customer',
    address: null,
    balance: 0,
    created,
    currency: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email,
    invoice_prefix: chance.text(8).toUpperCase(),
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode,
    metadata: {},
    name: name ?? nameOfCustomer(id).join(' '),
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  }
}

/** A payment that has succeeded by card. */
export function makePayment(context: ObjectContext, request: PaymentRequest): Payment {
  const { chance } = context
  const customer =
    request.customer ??
    makeCustomer(context, request.email ?? `buyer-${chance.text(6).toLowerCase()}@shop.example`, request.name)
  const paymentMethod = `pm_1${chance.text(23)}`
  const intentId = `pi_3${chance.text(23)}`
  const charge = makeCharge(context, request, { customer, paymentMethod, intentId })
  return { customer, charge, paymentIntent: makePaymentIntent(context, request, { charge, paymentMethod, intentId }) }
}

function makePaymentIntent(
  { chance, created, livemode }: ObjectContext,
  request: PaymentRequest,
  parts: { charge: Stripe.Charge; paymentMethod: string; intentId: string },
): Stripe.PaymentIntent {
  return {
    id: parts.intentId,
    object: 'payment_intent',
    allowed_payment_method_types: null,
    amount: request.amount,
    amount_capturable: 0,
    amount_received: request.amount,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: { allow_redirects: 'never', enabled: true },
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic_async',
    client_secret: `${parts.intentId}_secret_${chance.text(25)}`,
    confirmation_method: 'automatic',
    created,
    currency: parts.charge.currency,
    customer: parts.charge.customer,
    customer_account: null,
    description: request.description ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: parts.charge.id,
    livemode,
    managed_payments: null,
    metadata: request.metadata ?? {},
    next_action: null,
    on_behalf_of: null,
    payment_method: parts.paymentMethod,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  }
}

function makeCharge(
  { chance, created, livemode }: ObjectContext,
  request: PaymentRequest,
  parts: { customer: Stripe.Customer; paymentMethod: string; intentId: string },
): Stripe.Charge {
  return {
    id: `ch_3${chance.text(23)}`,
    object: 'charge',
    amount: request.amount,
    amount_captured: request.amount,
    amount_refunded: 0,
    application: null,
    application_fee: null,
    application_fee_amount: null,
    balance_transaction: `txn_3${chance.text(23)}`,
    billing_details: {
      address: null,
      email: parts.customer.email,
      name: parts.customer.name ?? null,
      phone: null,
      tax_id: null,
    },
    calculated_statement_descriptor: 'SHOP EXAMPLE',
    captured: true,
    created,
    currency: request.currency.toLowerCase(),
    customer: parts.customer.id,
    description: request.description ?? null,
    disputed: false,
    failure_balance_transaction: null,
    failure_code: null,
    failure_message: null,
    fraud_details: {},
    livemode,
    metadata: request.metadata ?? {},
    on_behalf_of: null,
    outcome: {
      advice_code: null,
      network_advice_code: null,
      network_decline_code: null,
      network_status: 'approved_by_network',
      reason: null,
      risk_level: 'normal',
      risk_score: 12,
      seller_message: 'Payment complete.',
      type: 'authorized',
    },
    paid: true,
    payment_intent: parts.intentId,
    payment_method: parts.paymentMethod,
    payment_method_details: { type: 'card', card: makeCard(request.amount) },
    receipt_email: parts.customer.email,
    receipt_number: receiptNumber(parts.intentId),
    receipt_url: null,
    refunded: false,
    review: null,
    shipping: null,
    source: null,
    source_transfer: null,
    statement_descriptor: null,
    statement_descriptor_suffix: null,
    status: 'succeeded',
    transfer_data: null,
    transfer_group: null,
  }
}

/** A number like those on receipts. It follows from the payment's id, so that it takes no random value. */
function receiptNumber(paymentId: string): string {
  let number = 0
  for (const character of paymentId) number = (number * 31 + character.charCodeAt(0)) % 100_000_000
  const digits = String(number).padStart(8, '0')
  return `${digits.slice(0, 4)}-${digits.slice(4)}`
}

function makeCard(amount: number): NonNullable<NonNullable<Stripe.Charge['payment_method_details']>['card']> {
  return {
    amount_authorized: amount,
    authorization_code: null,
    brand: 'visa',
    checks: { address_line1_check: null, address_postal_code_check: null, cvc_check: 'pass' },
    country: 'DE',
    electronic_commerce_indicator: null,
    exp_month: 8,
    exp_year: 2031,
    funding: 'credit',
    installments: null,
    last4: '4242',
    mandate: null,
    network: 'visa',
    network_transaction_id: null,
    regulated_status: 'unregulated',
    three_d_secure: null,
    transaction_link_id: null,
    wallet: null,
  }
}
