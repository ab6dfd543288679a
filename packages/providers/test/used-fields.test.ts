/**
 * The fields of read objects that a reading keeps. Without the others an object means the same, and the personal data that nothing
 * uses are gone: addresses, phone numbers, fingerprints of cards.
 */
import type { ProviderKind, ReadObject } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { USED_FIELDS as OF_BILLER } from '../src/biller/used-fields.ts'
import { USED_FIELDS as OF_PROCESSOR } from '../src/processor/used-fields.ts'
import { PROVIDERS } from '../src/registry.ts'
import { USED_FIELDS as OF_RESELLER } from '../src/reseller/used-fields.ts'
import { type UsedFieldsOfTypes, withUsedFields } from '../src/used-fields.ts'
import { SAMPLES } from './samples/index.ts'
import { RESELLER_TRANSACTION } from './samples/reseller.ts'

const USED: Readonly<Record<ProviderKind, UsedFieldsOfTypes>> = {
  processor: OF_PROCESSOR,
  reseller: OF_RESELLER,
  subscription: OF_BILLER,
}
const READ = { projectId: 'prj_1', connectionId: 'con_1', site: 'acme', readAt: Date.parse('2025-12-31T00:00:00Z') }

const meaningOf = (kind: ProviderKind, { type, body }: ReadObject) => PROVIDERS[kind].normaliseObject(READ, type, body)
const address = { line1: 'Hidden Street 1', city: 'Hidden Town', postal_code: '99999', country: 'DE' }
const { charge, refund, subscription, dispute } = SAMPLES.processor.objects
const { payment_refunded: refunded, subscription_cancelled: cancelled } = SAMPLES.subscription.events

/** A customer with everything that a processor may know of a person. */
const customer = {
  ...{ id: 'cus_9', object: 'customer', name: 'Sam Buyer', email: 'buyer@shop.example' },
  ...{ phone: '+49 hidden', address, shipping: { name: 'Hidden Recipient', address }, metadata: { note: 'hidden' } },
}
const expandedCharge = {
  ...charge,
  customer,
  billing_details: { name: 'Sam Buyer', email: 'buyer@shop.example', phone: '+49 hidden', address, tax_id: 'hidden' },
  shipping: { name: 'Hidden Recipient', address },
  payment_method_details: { type: 'card', card: { brand: 'visa', last4: '4242', fingerprint: 'hidden' } },
}
const biller = { ...{ first_name: 'Sam', last_name: 'Buyer', email: 'buyer@shop.example', phone: '+49 hidden' } }
const billing = { ...biller, line1: 'Hidden Street 1', zip: 'hidden' }

/** Objects with more than is used. */
const EXPANDED: readonly (ReadObject & { kind: ProviderKind })[] = [
  { kind: 'processor', type: 'refund', body: { ...refund, charge: expandedCharge, instructions_email: 'hidden@a.b' } },
  {
    kind: 'processor',
    type: 'charge',
    body: { ...expandedCharge, refunds: { data: [{ ...refund, charge: 'ch_3P' }] } },
  },
  {
    kind: 'processor',
    type: 'subscription',
    body: { ...subscription, customer, latest_invoice: { id: 'in_1', number: 'F3A1-0042', customer_address: address } },
  },
  {
    kind: 'processor',
    type: 'dispute',
    body: { ...dispute, charge: expandedCharge, evidence: { customer_name: 'hidden', customer_purchase_ip: 'hidden' } },
  },
  ...[refunded, cancelled].map(event => ({
    kind: 'subscription' as const,
    type: 'event',
    body: {
      ...event,
      content: {
        ...Object(event?.content),
        customer: { id: 'cus-9', ...biller, billing_address: billing },
        invoice: { id: 'INV-88', billing_address: billing, shipping_address: billing },
        card: { card_type: 'visa', last4: '4242', billing_addr1: 'hidden', first_name: 'Hidden' },
      },
    },
  })),
  {
    kind: 'subscription',
    type: 'subscription',
    body: { ...SAMPLES.subscription.objects.subscription, shipping_address: billing },
  },
  {
    kind: 'reseller',
    type: 'subscription',
    body: { ...SAMPLES.reseller.objects.subscription, custom_data: { name: 'hidden' } },
  },
  ...(['adjustment', 'subscription'] as const).map(type => ({
    kind: 'reseller' as const,
    type,
    body: {
      ...SAMPLES.reseller.objects[type],
      transaction: {
        ...RESELLER_TRANSACTION,
        customer: { ...RESELLER_TRANSACTION.customer, custom_data: { note: 'hidden' } },
        payments: [{ method_details: { card: { cardholder_name: 'Hidden' } } }],
      },
    },
  })),
]

describe('an object that is read', () => {
  test.each(EXPANDED)(
    'of the type $type ($kind) keeps its meaning and no data that nothing uses',
    ({ kind, ...object }) => {
      const kept = withUsedFields(object, USED[kind])
      expect(JSON.stringify(object.body)).toMatch(/hidden/i)
      expect(JSON.stringify(kept.body)).not.toMatch(/hidden/i)
      const meaning = meaningOf(kind, object)
      expect(meaning.kind).toBe('observed')
      expect(meaningOf(kind, kept)).toEqual(meaning)
    },
  )

  const samples = (Object.keys(USED) as ProviderKind[]).flatMap(kind => [
    ...Object.entries(SAMPLES[kind].objects).map(([type, body]) => ({ kind, name: type, type, body })),
    ...Object.entries(SAMPLES[kind].events).map(([name, body]) => ({ kind, name, type: 'event', body })),
  ])
  test.each(samples)('keeps the meaning of the sample $name ($kind)', ({ kind, type, body }) => {
    const kept = withUsedFields({ type, body: { ...body } }, USED[kind])
    const isRead =
      kind !== 'processor' || type !== 'event' || /^(refund\.created|subscription_schedule)/.test(String(body.type))
    if (isRead) expect(meaningOf(kind, kept)).toEqual(meaningOf(kind, { type, body: { ...body } }))
  })

  test('that cannot be used is kept whole, because people examine it', () => {
    const unusable = { type: 'refund', body: { amount: 'odd', metadata: {} }, fault: 'no usable id' }
    expect(withUsedFields(unusable, USED.processor)).toBe(unusable)
  })
})
