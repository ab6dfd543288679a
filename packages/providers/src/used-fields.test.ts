import { expect, test } from 'vitest'
import { USED_FIELDS as BILLER } from './biller/used-fields.ts'
import { USED_FIELDS as PROCESSOR } from './processor/used-fields.ts'
import { USED_FIELDS as RESELLER } from './reseller/used-fields.ts'
import { type UsedFields, withUsedFields } from './used-fields.ts'

/** The names of all used fields, at any depth. */
function namesIn(used: UsedFields): string[] {
  return Object.entries(used).flatMap(([name, inside]) => [name, ...(inside === true ? [] : namesIn(inside))])
}

/** Card data in the objects of the providers that nothing needs. */
const CARD_DATA = /^(?:iin|cvc|cvv|exp_.*|expiry.*|fingerprint|cardholder_name|masked_number|track.*|pin.*)$/

test('of a card no used field has more than its brand and its last four digits', () => {
  const names = [PROCESSOR, RESELLER, BILLER].flatMap(types => Object.values(types).flatMap(namesIn))
  expect(names).toEqual(expect.arrayContaining(['brand', 'last4', 'card_type']))
  expect(names.filter(name => CARD_DATA.test(name))).toEqual([])
})

test('of a charge that was read, the card is kept with its brand and last four digits only', () => {
  const card = { brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2031, fingerprint: 'Xt5EWLLDS7FJjR1c' }
  const body = { id: 'ch_1', payment_method_details: { type: 'card', card } }
  const read = withUsedFields({ type: 'charge', body, mode: 'live' } as Parameters<typeof withUsedFields>[0], PROCESSOR)
  expect(read.body).toEqual({
    id: 'ch_1',
    payment_method_details: { type: 'card', card: { brand: 'visa', last4: '4242' } },
  })
})
