import type { History, Shop } from './history.ts'
import { charge, event, refund, requestWithKey } from './processor-shapes.ts'
import { postCreated, postTotal, postUpdated, reportRefund } from './processor-steps.ts'

const stranger = { verdicts: ['refund re_1 unexplained'], alerts: ['opened re_1'] }
const ours = { verdicts: ['refund re_1 explained'], alerts: [] }
const oneOfTwo = { verdicts: ['refund re_1 explained', 'refund re_2 unexplained'], alerts: ['opened re_2'] }

/** A `refund.created` whose envelope has other fields than usual. */
const postInEnvelope = (shop: Shop, envelope: object, more: object = {}) =>
  shop.post({ ...event('refund.created', refund('re_1', 700, shop.now(), more), { at: shop.now() }), ...envelope })

/** Forms that a refund of the card processor can have: accounts, currencies, amounts, keys, and the order of its events. */
export const PROCESSOR_REFUND_FORMS: readonly History[] = [
  {
    name: 'a payment whose first charge failed: our operation names the payment',
    async play(shop) {
      await reportRefund(shop)
      await postCreated(shop, 're_1', 700, { charge: 'ch_2' })
    },
    ...ours,
  },
  {
    name: 'our operation writes the currency in capitals',
    async play(shop) {
      await reportRefund(shop, { currency: 'EUR' })
      await postCreated(shop, 're_1', 700)
    },
    ...ours,
  },
  {
    name: 'our part, and the rest by a stranger',
    async play(shop) {
      await reportRefund(shop)
      await postCreated(shop, 're_1', 700)
      await postCreated(shop, 're_2', 9_300)
    },
    ...oneOfTwo,
  },
  {
    name: 'a refund that also reverses a transfer',
    play: shop => postCreated(shop, 're_1', 700, { transfer_reversal: 'trr_1', source_transfer_reversal: 'trr_2' }),
    ...stranger,
  },
  {
    name: 'a refund on a connected account, not reported',
    play: shop => postInEnvelope(shop, { account: 'acct_1' }),
    ...stranger,
  },
  {
    name: 'our refund on a connected account, known by payment and amount',
    async play(shop) {
      await reportRefund(shop)
      await postInEnvelope(shop, { account: 'acct_1' })
    },
    ...ours,
  },
  {
    name: 'a refund of test money',
    play: shop => postInEnvelope(shop, { livemode: false }),
    ...stranger,
  },
  {
    name: 'the request is a text, as in API versions before 2017',
    play: shop => postInEnvelope(shop, { request: 'req_1', api_version: '2015-10-16' }),
    ...stranger,
  },
  {
    name: 'no request and no API version',
    play: shop => postInEnvelope(shop, { request: null, api_version: null }),
    ...stranger,
  },
  {
    name: 'the charge and the payment are expanded to objects',
    async play(shop) {
      await reportRefund(shop)
      await postCreated(shop, 're_1', 700, {
        charge: charge(700),
        payment_intent: { id: 'pi_1', object: 'payment_intent' },
      })
    },
    ...ours,
  },
  {
    name: 'the buyer must act, and the refund is canceled afterwards',
    async play(shop) {
      await postCreated(shop, 're_1', 700, { status: 'requires_action' })
      await shop.untilRecorded('re_1')
      await postUpdated(shop, 're_1', 700, 'canceled')
    },
    ...stranger,
  },
  {
    name: 'our refund waits for money on the balance, and succeeds',
    async play(shop) {
      const operation = await reportRefund(shop, { idempotency_key: 'k1' })
      await postCreated(
        shop,
        're_1',
        700,
        { status: 'pending', pending_reason: 'insufficient_funds' },
        { request: requestWithKey('k1') },
      )
      await shop.reportTransition(operation, { to: 'completed', provider_ref: 're_1' })
      await postUpdated(shop, 're_1', 700, 'succeeded')
    },
    ...ours,
  },
  {
    name: 'one cent',
    play: shop => postCreated(shop, 're_1', 1),
    ...stranger,
  },
  {
    name: 'amount 0, which the processor reports for some payment methods',
    play: shop => postCreated(shop, 're_1', 0),
    ...stranger,
  },
  {
    name: 'our refund of amount 0, named',
    async play(shop) {
      await reportRefund(shop, { amount: 0, provider_ref: 're_1' })
      await postCreated(shop, 're_1', 0)
    },
    ...ours,
  },
  {
    name: 'an amount as large as the processor allows',
    play: shop => postCreated(shop, 're_1', 99_999_999),
    ...stranger,
  },
  {
    name: 'dinars with three decimals',
    async play(shop) {
      await reportRefund(shop, { amount: 7_000, currency: 'kwd' })
      await postCreated(shop, 're_1', 7_000, { currency: 'kwd' })
    },
    ...ours,
  },
  {
    name: 'kronur of Iceland, which the processor writes with two decimals',
    async play(shop) {
      await reportRefund(shop, { amount: 70_000, currency: 'isk' })
      await postCreated(shop, 're_1', 70_000, { currency: 'isk' })
    },
    ...ours,
  },
  {
    name: 'our software reports whole units instead of cents',
    async play(shop) {
      await reportRefund(shop, { amount: 7 })
      await postCreated(shop, 're_1', 700)
    },
    ...stranger,
  },
  {
    name: 'a failed attempt of ours, and a second one with a new key',
    async play(shop) {
      const first = await reportRefund(shop, { idempotency_key: 'k1' })
      await shop.reportTransition(first, { to: 'failed', reason: 'card_declined' })
      const second = await reportRefund(shop, { idempotency_key: 'k2' })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k2') })
      await shop.reportTransition(second, { to: 'completed', provider_ref: 're_1' })
    },
    ...ours,
  },
  {
    name: 'two equal refunds in one second, one of them with our key',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'k1' })
      await postCreated(shop, 're_2', 700, {}, { request: requestWithKey('theirs') })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k1') })
    },
    ...oneOfTwo,
  },
  {
    name: 'a key that differs from ours in capitals only, and another amount',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'Order-7', amount: 500 })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('order-7') })
    },
    ...stranger,
  },
  {
    name: 'a cash balance: our operation names the customer and the refund',
    async play(shop) {
      await reportRefund(shop, { subject: 'cus_1', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700, { charge: null, payment_intent: null, customer: 'cus_1' })
    },
    ...ours,
  },
  {
    name: 'a cash balance: our operation names another customer',
    async play(shop) {
      await reportRefund(shop, { subject: 'cus_2' })
      await postCreated(shop, 're_1', 700, { charge: null, payment_intent: null, customer: 'cus_1' })
    },
    ...stranger,
  },
  {
    name: 'totals alone: two of three parts are ours',
    async play(shop) {
      await reportRefund(shop, { amount: 700 })
      await reportRefund(shop, { amount: 300 })
      await postTotal(shop, 700, 0)
      await postTotal(shop, 1_000, 700)
      await postTotal(shop, 1_500, 1_000)
    },
    verdicts: ['refund of 300 explained', 'refund of 500 unexplained', 'refund of 700 explained'],
    alerts: ['opened of 500'],
  },
  {
    name: 'the full refund of a charge, known by its total alone',
    play: shop => postTotal(shop, 10_000, 0),
    verdicts: ['refund of 10000 unexplained'],
    alerts: ['opened of 10000'],
  },
  {
    name: 'our operation completes before the event, and names the charge as its result',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 'ch_1' })
      await postCreated(shop, 're_1', 700)
    },
    ...ours,
  },
  {
    name: 'two payments of one customer, one operation',
    async play(shop) {
      await reportRefund(shop)
      await postCreated(shop, 're_1', 700)
      await postCreated(shop, 're_2', 700, { charge: 'ch_2', payment_intent: 'pi_2' })
    },
    ...oneOfTwo,
  },
  {
    name: 'a refund for fraud',
    play: shop => postCreated(shop, 're_1', 700, { reason: 'fraudulent' }),
    ...stranger,
  },
  {
    name: 'our refund fails at the bank after we saw it succeed',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700)
      await shop.untilRecorded('re_1')
      await postUpdated(shop, 're_1', 700, 'failed', { failure_reason: 'lost_or_stolen_card' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
]
