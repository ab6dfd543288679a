import type { ProviderKind } from '@backstop/contracts'
import { PROVIDERS } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { because, madeBy, ofCustomer } from '../../test/details.ts'
import { MINUTE, play, T0 } from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import { createPersonMatcher } from './person.ts'

const byEmail = createPersonMatcher({ customer_id: null, email: 'ann+1@shop.example' }, PROVIDERS)
const byId = createPersonMatcher({ customer_id: '42', email: null }, PROVIDERS)
const ofReseller = { customer_id: '42', email: 'ann+1@shop.example', provider: 'reseller' } as const
const byResellersId = createPersonMatcher(ofReseller, PROVIDERS)

interface Body {
  readonly where: string
  readonly value: unknown
  readonly isFound: boolean
  readonly provider?: ProviderKind
}

describe('the e-mail address of a customer is found in a raw body', () => {
  const email = 'ann+1@shop.example'
  const client = { dashboard_user: { email } }
  test.each<Body>([
    { where: 'as a value', value: { email }, isFound: true },
    { where: 'in other letters, with spaces', value: { email: ' Ann+1@Shop.Example ' }, isFound: true },
    { where: 'in a URL', value: { url: 'https://p.example/?mail%3Dann%2B1%40shop.example&x' }, isFound: true },
    {
      where: 'in a URL in a URL',
      value: { url: 'https://p.example/?to=x%3Dann%252B1%2540shop.example' },
      isFound: true,
    },
    { where: 'in a mailto', value: { link: `mailto:${email}` }, isFound: true },
    { where: 'in a text that is JSON', value: { note: JSON.stringify({ email }) }, isFound: true },
    { where: 'in a body that is no JSON', value: `{"email": ${email}, `, isFound: true },
    { where: 'below any depth', value: `${'['.repeat(5e4)}"${email}"${']'.repeat(5e4)}`, isFound: true },
    { where: 'as the user of the shop', value: { metadata: { user: email } }, provider: 'subscription', isFound: true },
    { where: 'not in a sentence', value: { reason: `Asked by ${email}.` }, isFound: false },
    { where: 'not as a key', value: { [email]: true }, isFound: false },
    { where: 'not in a longer name', value: { email: `jo${email}` }, isFound: false },
    { where: 'not in a longer name in a URL', value: { url: `mailto:d'${email}` }, isFound: false },
    { where: 'not in a longer domain', value: `{"email": ${email}.org, `, isFound: false },
    { where: 'not as the user of the dashboard', value: { reason: { request: { client } } }, isFound: false },
    { where: "not as the biller's user", value: { user: email }, provider: 'subscription', isFound: false },
    {
      where: "not as the biller's claimed user",
      value: { origin_user: email },
      provider: 'subscription',
      isFound: false,
    },
  ])('$where', ({ value, isFound, provider = 'processor' }) => {
    expect(byEmail.isIn(typeof value === 'string' ? value : JSON.stringify(value), provider)).toBe(isFound)
  })
})

describe('the id of a customer is found in a raw body', () => {
  test.each<Body>([
    { where: 'as the customer', value: { data: [{ customer: '42' }] }, isFound: true },
    { where: 'as the id of the customer', value: { customer: { id: '42' } }, isFound: true },
    { where: 'as customer_id', value: { customer_id: '42' }, isFound: true },
    { where: 'as the id of a customer object', value: { object: { id: '42', object: 'customer' } }, isFound: true },
    {
      where: 'in an event of a customer',
      value: { event_type: 'customer.updated', data: { id: '42' } },
      isFound: true,
    },
    { where: 'in a text that is JSON', value: { note: '{"customer":"42"}' }, isFound: true },
    { where: 'not in a number', value: { amount: 42 }, isFound: false },
    { where: 'not in a longer id', value: { customer: '421' }, isFound: false },
    { where: 'not as another value', value: { quantity: '42', id: '42', customer: { phone: '42' } }, isFound: false },
    { where: 'not as a key', value: { 42: '42' }, isFound: false },
  ])('$where', ({ value, isFound }) => {
    expect(byId.isIn(JSON.stringify(value), 'processor')).toBe(isFound)
  })

  test('only of the provider, if the request names one', () => {
    const body = JSON.stringify({ customer_id: '42' })
    expect([byResellersId.isIn(body, 'reseller'), byResellersId.isIn(body, 'processor')]).toEqual([true, false])
    expect(byResellersId.isIn('{"email":"ann+1@shop.example"}', 'processor')).toBe(true)
  })
})

describe('a case', () => {
  const shown = (details: object) => play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details })) }])
  const withId = (id: string) => shown({ customer: { id, name: null, email: null } })
  const ann = shown(ofCustomer('Ann Canary', ' Ann+1@shop.example'))

  test('is the one of a customer whose e-mail address it shows', () => {
    expect(byEmail.isCustomerOf(ann)).toBe(true)
    expect(byEmail.isCustomerOf(withId('Ann+1@shop.example'))).toBe(true)
    expect(byEmail.isCustomerOf(shown({ dashboardUrl: 'https://p.example/ann%2B1%40shop.example' }))).toBe(true)
    expect(byEmail.isCustomerOf(shown(ofCustomer('Bo', 'bo@shop.example')))).toBe(false)
  })

  test('is not the one of a customer with a part of its address, or whom its reason mentions', () => {
    expect(byEmail.isCustomerOf(shown(ofCustomer('Dan', "d'ann+1@shop.example")))).toBe(false)
    expect(byEmail.isCustomerOf(shown(because('Asked by ann+1@shop.example')))).toBe(false)
  })

  test('is not the one of a customer with the address of the member of the team who made the refund', () => {
    expect(byEmail.isCustomerOf(shown(madeBy({ channel: 'dashboard', user: 'ann+1@shop.example' })))).toBe(false)
  })

  test('is not the one of a customer who has its id at another provider', () => {
    expect([byId, byResellersId].map(matcher => matcher.isCustomerOf(withId('42')))).toEqual([true, false])
  })
})
