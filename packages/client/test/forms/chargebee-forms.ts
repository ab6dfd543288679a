import { expect } from 'vitest'
import type { Answer, ArrivedRequest } from '../recording-provider.ts'
import type { Form } from './form.ts'

const refund = { kind: 'refund', subject: 'inv_1', amount: 500, state: 'completed', provider_ref: 'txn_1' } as const
const failed = { kind: 'refund', subject: 'inv_1', state: 'failed' } as const
const cancellation = { kind: 'cancellation', subject: 'sub_1', state: 'completed' } as const
const KEY = 'chargebee-idempotency-key'

export const chargebeeForms: readonly Form[] = [
  { name: 'a refund', call: chargebee => chargebee.invoice.refund('inv_1', { refund_amount: 500 }), reported: refund },
  {
    name: 'an amount as a text',
    call: chargebee => chargebee.invoice.refund('inv_1', { refund_amount: '500' }),
    reported: refund,
  },
  {
    name: 'a whole refund',
    call: chargebee => chargebee.invoice.refund('inv_1'),
    reported: { ...refund, amount: undefined },
  },
  ...[undefined, null, {}].map(value => ({
    name: `parameters and headers that are ${JSON.stringify(value)}`,
    call: (chargebee: Parameters<Form['call']>[0]) => chargebee.invoice.refund('inv_1', value, value),
    reported: { ...refund, amount: undefined },
  })),
  {
    name: 'a key and other headers',
    call: chargebee =>
      chargebee.invoice.refund('inv_1', { refund_amount: 500 }, { [KEY]: 'k-1', 'chargebee-request-origin-user': 'a' }),
    reported: refund,
  },
  {
    name: 'a key in capital letters',
    call: chargebee =>
      chargebee.invoice.refund('inv_1', { refund_amount: 500 }, { 'Chargebee-Idempotency-Key': 'k-2' }),
    reported: refund,
  },
  {
    name: 'frozen arguments',
    call: chargebee =>
      chargebee.invoice.refund('inv_1', Object.freeze({ refund_amount: 500 }), Object.freeze({ [KEY]: 'k-3' })),
    reported: refund,
  },
  {
    name: 'a nested amount, and letters outside of ASCII',
    call: chargebee =>
      chargebee.invoice.recordRefund('inv_1', {
        transaction: { amount: '500', payment_method: 'cash' },
        comment: 'ä=&€',
      }),
    reported: refund,
  },
  {
    name: 'a nested amount under its whole name',
    call: chargebee => chargebee.invoice.recordRefund('inv_1', { 'transaction[amount]': 500 }),
    reported: refund,
  },
  {
    name: 'an id with signs',
    call: chargebee => chargebee.invoice.refund('inv/1 ä', { refund_amount: 500 }),
    reported: { ...refund, subject: 'inv/1 ä' },
  },
  ...[undefined, null, '', 7].map(id => ({
    name: `the id ${JSON.stringify(id)}`,
    call: (chargebee: Parameters<Form['call']>[0]) => chargebee.invoice.refund(id, { refund_amount: 500 }),
    reported: null,
  })),
  {
    name: 'a refund of a credit note',
    call: chargebee => chargebee.creditNote.refund('cn_1', { refund_amount: 500 }),
    reported: { ...refund, subject: 'cn_1' },
  },
  {
    name: 'a refund of a transaction',
    call: chargebee => chargebee.transaction.refund('txn_0', { amount: '500' }),
    reported: { ...refund, subject: 'txn_0' },
  },
  {
    name: 'a refusal',
    call: chargebee => chargebee.invoice.refund('inv_1', { refund_amount: 666 }),
    reported: { ...failed, amount: 666, reason: 'Too much' },
  },
  {
    name: 'a failed transaction',
    call: chargebee => chargebee.invoice.refund('inv_1', { refund_amount: 777 }),
    reported: { ...refund, amount: 777, state: 'failed' },
  },
  {
    name: 'an answer that is no JSON',
    call: chargebee => chargebee.invoice.refund('inv_1', { refund_amount: 888 }),
    reported: { ...failed, amount: 888, reason: expect.any(String) },
  },
  {
    name: 'a cancellation',
    call: chargebee => chargebee.subscription.cancel('sub_1', { end_of_term: 'true' }),
    reported: cancellation,
  },
  {
    name: 'a cancellation with lists',
    call: chargebee =>
      chargebee.subscription.cancelForItems('sub_1', { subscription_items: [{ item_price_id: 'p_1' }] }),
    reported: cancellation,
  },
  { name: 'a deletion', call: chargebee => chargebee.subscription.delete('sub_1'), reported: cancellation },
  { name: 'a pause', call: chargebee => chargebee.subscription.pause('sub_1', {}), reported: null },
  {
    name: 'a cancellation that is only estimated',
    call: chargebee => chargebee.estimate.cancelSubscription('sub_1'),
    reported: null,
  },
  {
    name: 'a cancellation that is taken back',
    call: chargebee => chargebee.subscription.removeScheduledCancellation('sub_1'),
    reported: null,
  },
  { name: 'a list of invoices', call: chargebee => chargebee.invoice.list({ limit: 3 }), reported: null },
]

/** The API of Chargebee, as far as the forms need it. */
export function answerAsChargebee({ path, body }: ArrivedRequest): Answer {
  if (body.includes('666')) return { status: 400, body: { message: 'Too much', api_error_code: 'invalid_request' } }
  if (body.includes('888')) return { status: 503, body: 'no JSON' }
  const transaction = { id: 'txn_1', status: body.includes('777') ? 'failure' : 'success' }
  return { body: path.includes('refund') ? { transaction } : { list: [], subscription: { id: 'sub_1' } } }
}
