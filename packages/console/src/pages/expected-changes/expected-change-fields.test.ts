import type { Action } from '@backstop/client'
import { describe, expect, test } from 'vitest'
import { bodyOf, EMPTY, fieldsLike, scopesOf, startAfter } from './expected-change-fields.ts'

const refund = {
  kind: 'refund',
  connection_id: 'con_1',
  subject: 'pi_1',
  amount: 4_321,
  currency: 'eur',
  provider_created_at: '2026-11-20T10:00:00.000Z',
  customer: { id: 'cus_1', name: 'Anna Kern', email: null },
} as Action
const tool = { ...refund, actor_id: 'acr_1', actor_name: 'Support tool' }
const cancellation: Action = { ...refund, kind: 'cancellation', subject: 'sub_1', amount: null, currency: null }

describe('what an action expects the next time', () => {
  test('is offered by its actor first, then by its customer, then for the payment alone', () => {
    expect(scopesOf(tool).map(({ label }) => label)).toEqual([
      'Made by Support tool',
      'Of the same customer, Anna Kern',
      'Of the same payment',
    ])
    expect(scopesOf({ ...cancellation, customer: null }).map(({ label }) => label)).toEqual([
      'Of the same subscription',
    ])
  })

  test('never names a customer by an e-mail address', () => {
    const byAddress = { ...refund, customer: { id: 'anna@example.com', name: null, email: null } }
    expect(scopesOf(byAddress).map(({ value }) => value)).toEqual(['subject'])
  })

  test.each([
    ['as much money in each week for 90 days, of the actor', tool, undefined, { actor_id: 'acr_1' }],
    ['of the customer, if the reader chooses it', tool, 'customer', { customer_id: 'cus_1' }],
    ['of the customer, if nobody is named', refund, undefined, { customer_id: 'cus_1' }],
  ] as const)('is %s', (_, action, scope, whose) => {
    expect(bodyOf({ ...EMPTY, ...fieldsLike(action, scope), note: 'By hand' }, 'prj_1')).toEqual({
      project_id: 'prj_1',
      kind: 'refund',
      note: 'By hand',
      connection_id: 'con_1',
      ...whose,
      interval: 'week',
      currency: 'eur',
      max_amount: 4_321,
      expires_in_seconds: 7_776_000,
    })
  })

  test('is one more of the same subscription within a day, and one cancellation of the customer each week', () => {
    const body = (scope: 'subject' | 'customer') =>
      bodyOf({ ...EMPTY, ...fieldsLike(cancellation, scope), note: 'By hand' }, 'prj_1')
    const common = {
      project_id: 'prj_1',
      kind: 'cancellation',
      note: 'By hand',
      connection_id: 'con_1',
      max_changes: 1,
    }
    expect(body('subject')).toEqual({ ...common, subject: 'sub_1', expires_in_seconds: 86_400 })
    const each = { customer_id: 'cus_1', interval: 'week', expires_in_seconds: 7_776_000 }
    expect(body('customer')).toEqual({ ...common, ...each })
  })

  test('begins after the action, which needs an explanation of its own', () => {
    expect(startAfter(refund)).toBe('2026-11-20T10:00:01.000Z')
    expect(startAfter({ ...refund, provider_created_at: '2026-11-20T10:00:00.999Z' })).toBe('2026-11-20T10:00:01.000Z')
  })
})
