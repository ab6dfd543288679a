import { alert, sampleBurst } from '@backstop/channels/test'
import { type Customer, NOTHING_IN_COMMON } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { namesCustomer } from './names-customer.ts'

const ANN = { customer_id: null, email: 'ann@shop.example' }

function isNamed(customer: Partial<Customer>, person: Parameters<typeof namesCustomer>[1]['person'] = ANN): boolean {
  const value = { id: null, name: null, email: null, ...customer }
  const report = sampleBurst({ common: { ...NOTHING_IN_COMMON, customer: { value, count: 9 } } })
  return namesCustomer(report, { ids: ['cus_1'], person })
}

test('a report names a customer by an id or by the e-mail address', () => {
  expect(isNamed({ id: 'cus_1' }, null)).toBe(true)
  expect(isNamed({ id: 'cus_9' }, { customer_id: 'cus_9', email: null })).toBe(true)
  expect(isNamed({ email: 'Ann@Shop.example' })).toBe(true)
  expect(isNamed({ id: 'ann@shop.example' })).toBe(true)
  expect(isNamed({ name: 'Ann <ann@shop.example>' })).toBe(true)
})

test('a report does not name the customer if it has another customer, a customer without an id, or none', () => {
  expect(isNamed({ id: 'cus_2', email: 'joann@shop.example' })).toBe(false)
  expect(isNamed({ id: 'bo@shop.example' })).toBe(false)
  expect(isNamed({ name: 'Ann' })).toBe(false)
  expect(isNamed({ name: 'Ann' }, null)).toBe(false)
  expect(namesCustomer(alert(), { ids: ['cus_1'], person: ANN })).toBe(false)
})
