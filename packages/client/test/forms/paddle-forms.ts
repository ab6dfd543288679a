import { expect } from 'vitest'
import type { Answer, ArrivedRequest } from '../recording-provider.ts'
import type { Form } from './form.ts'

const refund = { kind: 'refund', subject: 'txn_1', state: 'awaiting_review', provider_ref: 'adj_1' } as const
const failed = { kind: 'refund', subject: 'txn_1', state: 'failed' } as const
const cancellation = { kind: 'cancellation', subject: 'sub_1', state: 'completed' } as const
const params = () => ({ action: 'refund', reason: 'r', transactionId: 'txn_1', type: 'full' })
const part = (amount: unknown) => ({
  ...params(),
  type: 'partial',
  items: [{ itemId: 'txnitm_1', type: 'partial', amount }],
})

function circular() {
  const items: unknown[] = []
  items.push(items)
  return { ...params(), items }
}

export const paddleForms: readonly Form[] = [
  { name: 'a whole refund', call: paddle => paddle.adjustments.create(params()), reported: refund },
  {
    name: 'a part of it',
    call: paddle => paddle.adjustments.create(part('500')),
    reported: { ...refund, amount: 500 },
  },
  {
    name: 'an amount as a number',
    call: paddle => paddle.adjustments.create(part(500)),
    reported: { ...refund, amount: 500 },
  },
  {
    name: 'the names of the API',
    call: paddle =>
      paddle.adjustments.create({
        action: 'refund',
        reason: 'r',
        transaction_id: 'txn_1',
        items: [{ item_id: 'txnitm_1', type: 'partial', amount: '500' }],
      }),
    reported: { ...refund, amount: 500 },
  },
  {
    name: 'undefined and null parameters',
    call: paddle => paddle.adjustments.create({ ...params(), items: undefined, taxMode: null }),
    reported: refund,
  },
  {
    name: 'an amount without tax',
    call: paddle => paddle.adjustments.create({ ...part('500'), taxMode: 'external' }),
    reported: refund,
  },
  { name: 'frozen parameters', call: paddle => paddle.adjustments.create(Object.freeze(params())), reported: refund },
  {
    name: 'a refusal',
    call: paddle => paddle.adjustments.create(part('666')),
    reported: { ...failed, amount: 666, reason: 'Too much' },
  },
  {
    name: 'an answer that is no JSON',
    call: paddle => paddle.adjustments.create(part('888')),
    reported: { ...failed, amount: 888, reason: expect.stringContaining('JSON') },
  },
  { name: 'no parameters', call: paddle => paddle.adjustments.create(), reported: null },
  { name: 'null parameters', call: paddle => paddle.adjustments.create(null), reported: null },
  { name: 'parameters that cannot be sent', call: paddle => paddle.adjustments.create(circular()), reported: null },
  { name: 'an amount that cannot be sent', call: paddle => paddle.adjustments.create(part(5n)), reported: null },
  { name: 'a credit', call: paddle => paddle.adjustments.create({ ...params(), action: 'credit' }), reported: null },
  {
    name: 'a cancellation',
    call: paddle => paddle.subscriptions.cancel('sub_1', { effectiveFrom: 'immediately' }),
    reported: cancellation,
  },
  {
    name: 'a cancellation without parameters',
    call: paddle => paddle.subscriptions.cancel('sub_1'),
    reported: cancellation,
  },
  {
    name: 'a cancellation with null',
    call: paddle => paddle.subscriptions.cancel('sub_1', null),
    reported: cancellation,
  },
  {
    name: 'a cancellation with empty parameters',
    call: paddle => paddle.subscriptions.cancel('sub_1', {}),
    reported: cancellation,
  },
  {
    name: 'a cancellation without an id',
    call: paddle => paddle.subscriptions.cancel(),
    reported: { ...cancellation, subject: '{subscription_id}' },
  },
  { name: 'a pause', call: paddle => paddle.subscriptions.pause('sub_1', {}), reported: null },
  { name: 'a subscription that is read', call: paddle => paddle.subscriptions.get('sub_1'), reported: null },
  { name: 'a page of adjustments', call: paddle => paddle.adjustments.list().next(), reported: null },
]

/** The API of Paddle, as far as the forms need it. */
export function answerAsPaddle({ method, path, body }: ArrivedRequest): Answer {
  if (body.includes('666')) {
    return {
      status: 400,
      body: { error: { type: 'request_error', code: 'adjustment_amount_above_remaining', detail: 'Too much' } },
    }
  }
  if (body.includes('888')) return { status: 502, body: 'no JSON' }
  const totals = { subtotal: '400', tax: '100', total: '500', fee: '0', earnings: '0', currency_code: 'EUR' }
  const items = [{ id: 'adjitm_1', item_id: 'txnitm_1', type: 'full', amount: '500', totals }]
  const adjustment = {
    id: 'adj_1',
    action: 'refund',
    status: 'pending_approval',
    transaction_id: 'txn_1',
    items,
    totals,
  }
  if (path.startsWith('/adjustments')) {
    return {
      body: { data: method === 'GET' ? [adjustment] : adjustment, meta: { pagination: { next: '', has_more: false } } },
    }
  }
  return {
    body: {
      data: { id: 'sub_1', status: 'active', items: [], billing_cycle: { interval: 'month', frequency: 1 } },
      meta: {},
    },
  }
}
