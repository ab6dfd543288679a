import { describe, expect, it } from 'vitest'
import { describeAction, describeErased, showValue } from './audit-words.ts'

describe('describeAction', () => {
  it.each([
    ['alert_channel.create', undefined, 'Channel created'],
    ['api_key.rotate', undefined, 'API key rotated'],
    ['connection.rewrap_secrets', undefined, 'Connection rewrap secrets'],
    ['refused.forbidden', 1, 'Refused: forbidden'],
    ['refused.rate_limited', 12, 'Refused: rate limited, 12 times'],
  ])('puts %s in words', (action, count, words) => {
    expect(describeAction({ action, ...(count === undefined ? {} : { count }) })).toBe(words)
  })
})

describe('showValue', () => {
  it.each([
    [null, 'none'],
    ['', 'empty'],
    [true, 'yes'],
    [0, '0'],
    ['<b>', '<b>'],
    [['a'], '[\n "a"\n]'],
  ])('shows %j as text', (value, text) => {
    expect(showValue(value)).toBe(text)
  })
})

describe('describeErased', () => {
  it('names the numbers that the row has', () => {
    expect(describeErased({ cases: 1, bodies: 2 })).toBe('1 cases, 2 raw bodies')
    const ofCustomer = { cases: 1, bodies: 2, actions: 3, deliveries: 4 }
    expect(describeErased(ofCustomer)).toBe('1 cases, 3 actions, 2 raw bodies, 4 deliveries')
  })
})
