import { describe, expect, test } from 'vitest'
import { createBiller } from './biller/account.ts'
import { createChance } from './chance.ts'
import { createCardProcessor } from './processor/account.ts'
import { createReseller } from './reseller/account.ts'

const options = () => ({ now: () => 1_764_000_000_000, chance: createChance(1) })
const money = { amount: 4_999, currency: 'eur' }

/** The notifications of a paid and refunded card payment, and of an ended subscription. */
const NOTIFICATIONS = {
  'card processor': () => {
    const processor = createCardProcessor(options())
    const { paymentIntent } = processor.createPayment(money)
    processor.refund({ payment_intent: paymentIntent.id })
    processor.cancel(processor.subscribe(money).subscription.id)
    return processor.events()
  },
  reseller: () => {
    const reseller = createReseller(options())
    const { transaction, subscription } = reseller.subscribe({ amount: 4_999 })
    reseller.refund({ transactionId: transaction.id, reason: 'asked' })
    reseller.cancel(subscription.id)
    return reseller.events()
  },
  biller: () => {
    const biller = createBiller(options())
    const { invoice, subscription } = biller.subscribe({ amount: 4_999 })
    biller.refundInvoice(invoice.id, {})
    biller.cancel(subscription.id)
    return biller.events()
  },
}

/** The check digit of ISO/IEC 7812-1, which each card number has. */
function isLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((sum, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
  return sum % 10 === 0
}

describe.each(Object.entries(NOTIFICATIONS))('the notifications of a %s', (_, notifications) => {
  const text = JSON.stringify(notifications())

  test('name a card by its last four digits, and by no full number or security code', () => {
    expect(text).toContain('4242')
    expect((text.match(/\b[3-6]\d{12,18}\b/g) ?? []).filter(isLuhn)).toEqual([])
    expect(text).not.toMatch(/"(?:cvc|cvv|cvv2|track_data|pin)":/)
  })
})

test('a full number would be noticed', () => {
  expect(isLuhn('4242424242424242')).toBe(true)
  expect(isLuhn('4242424242424241')).toBe(false)
})
