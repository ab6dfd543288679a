import { describe, expect, test } from 'vitest'
import { ofCustomer } from '../../test/details.ts'
import { MINUTE, play, T0 } from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import { createPersonMatcher } from './person.ts'

const byEmail = createPersonMatcher({ customer_id: null, email: 'ann+1@shop.example' })
const byId = createPersonMatcher({ customer_id: '42', email: null })

describe('the e-mail address of a customer is found in a raw body', () => {
  test.each<{ where: string; value: unknown; isFound: boolean }>([
    { where: 'as a value', value: { email: 'ann+1@shop.example' }, isFound: true },
    { where: 'in other letters', value: { email: 'Ann+1@Shop.Example' }, isFound: true },
    { where: 'in a sentence', value: { reason: 'Asked by ann+1@shop.example.' }, isFound: true },
    { where: 'in a URL', value: { url: 'https://p.example/?mail%3Dann%2B1%40shop.example&x' }, isFound: true },
    { where: 'in a text that is JSON', value: { note: '{"email":"ann+1@shop.example"}' }, isFound: true },
    { where: 'not in a longer name', value: { email: 'joann+1@shop.example' }, isFound: false },
    { where: 'not in a longer domain', value: { email: 'ann+1@shop.example.org' }, isFound: false },
  ])('$where', ({ value, isFound }) => {
    expect(byEmail.isIn(JSON.stringify(value))).toBe(isFound)
  })
})

describe('the id of a customer is found in a raw body', () => {
  test.each<{ where: string; value: unknown; isFound: boolean }>([
    { where: 'as a value', value: { customer: { id: '42' } }, isFound: true },
    { where: 'in a text that is JSON', value: { note: '{"customer":"42"}' }, isFound: true },
    { where: 'not in a number', value: { amount: 42 }, isFound: false },
    { where: 'not in a longer id', value: { customer: '421' }, isFound: false },
  ])('$where', ({ value, isFound }) => {
    expect(byId.isIn(JSON.stringify(value))).toBe(isFound)
  })
})

describe('a case', () => {
  const shown = (details: object) => play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details })) }])
  const ann = shown(ofCustomer('Ann Canary', 'Ann+1@shop.example'))

  test('is the one of a customer whose e-mail address it shows', () => {
    expect(byEmail.isCustomerOf(ann)).toBe(true)
    expect(byEmail.isCustomerOf(shown(ofCustomer('Bo', 'bo@shop.example')))).toBe(false)
  })

  test('is not the one of a customer with the address of the member of the team who made the refund', () => {
    const origin = { channel: 'dashboard', user: 'ann+1@shop.example', key_name: null, request_id: null }
    expect(byEmail.isCustomerOf(shown({ origin: { ...origin, idempotency_key: null } }))).toBe(false)
  })
})
