import type { History } from './history.ts'
import { event, refund, requestOfRefund, requestWithKey } from './processor-shapes.ts'
import { postCreated, postTotal, postUpdated, reportRefund } from './processor-steps.ts'

/** Refunds of the card processor, without a read key. */
export const PROCESSOR_REFUNDS: readonly History[] = [
  {
    name: 'a refund in the dashboard that is not reported',
    play: shop => postCreated(shop, 're_1', 700),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'the same refund in three copies of one event',
    async play(shop) {
      const refundEvent = event('refund.created', refund('re_1', 700, shop.now()), { at: shop.now() })
      for (let time = 0; time < 3; time += 1) await shop.post(refundEvent)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'the same refund in two events with different ids',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'our refund, whose id was reported before its event',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'our refund, whose event came before the report',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'our refund with an idempotency key, and without a reported id',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'k1' })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k1') })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'a refund with a key of the SDK, and an operation with another key, the same amount and the same time',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'mine' })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('stripe-node-retry-1f') })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'our refund, known by payment and amount only',
    async play(shop) {
      await reportRefund(shop, { state: 'completed' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'an operation that names the charge instead of the payment',
    async play(shop) {
      await reportRefund(shop, { subject: 'ch_1' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'an operation on another payment',
    async play(shop) {
      await reportRefund(shop, { subject: 'pi_2' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an operation of one cent more',
    async play(shop) {
      await reportRefund(shop, { amount: 701 })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an operation in another currency',
    async play(shop) {
      await reportRefund(shop, { currency: 'usd' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an operation that was only requested',
    async play(shop) {
      await reportRefund(shop, { state: 'requested' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an operation that was requested and executes within the minute',
    async play(shop) {
      const operation = await reportRefund(shop, { state: 'requested' })
      await postCreated(shop, 're_1', 700)
      await shop.reportTransition(operation, { to: 'executing' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'one operation and two equal refunds: the second is unexplained',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700)
      await postCreated(shop, 're_2', 700)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained'],
    alerts: ['opened re_2'],
  },
  {
    name: 'two operations and two equal refunds',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await reportRefund(shop, { state: 'completed', provider_ref: 're_2' })
      await postCreated(shop, 're_2', 700)
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 explained'],
    alerts: [],
  },
  {
    name: 'a retry with the same key makes one refund, reported twice',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'k1' })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k1') })
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k1') })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'an operation reported after the alert, by the id of its refund',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['opened re_1', 'resolved re_1'],
  },
  {
    name: 'an operation reported after the alert, by the key of its request',
    async play(shop) {
      await postCreated(shop, 're_1', 700, {}, { request: requestWithKey('k1') })
      await shop.untilJudged('re_1')
      await reportRefund(shop, { idempotency_key: 'k1' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['opened re_1', 'resolved re_1'],
  },
  {
    name: "a stranger's refund has alerted, then our own equal one executes and its event is on the way",
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      const operation = await reportRefund(shop)
      await postCreated(shop, 're_2', 700)
      await shop.reportTransition(operation, { to: 'completed', provider_ref: 're_2' })
    },
    verdicts: ['refund re_1 unexplained', 'refund re_2 explained'],
    alerts: ['opened re_1'],
  },
  {
    name: "the same, where our refund's event comes after the report of its end",
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      const operation = await reportRefund(shop)
      await shop.reportTransition(operation, { to: 'completed', provider_ref: 're_2' })
      await postCreated(shop, 're_2', 700)
    },
    verdicts: ['refund re_1 unexplained', 'refund re_2 explained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'a refund that is not reported and fails within the minute',
    async play(shop) {
      await postCreated(shop, 're_1', 700, { status: 'pending' })
      await postUpdated(shop, 're_1', 700, 'failed', { failure_reason: 'declined' })
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'our completed operation, whose refund the provider then fails: drift',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700, { status: 'pending' })
      await shop.untilRecorded('re_1')
      await postUpdated(shop, 're_1', 700, 'failed', { failure_reason: 'insufficient_funds' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'a failed operation whose refund was made: explained, and drift',
    async play(shop) {
      const operation = await reportRefund(shop)
      await shop.reportTransition(operation, { to: 'failed', reason: 'timeout' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'requested, then failed after a time-out at the provider, but the refund was made',
    async play(shop) {
      const operation = await reportRefund(shop, { state: 'requested' })
      await shop.reportTransition(operation, { to: 'failed', reason: 'timeout' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'an operation names the refund and another amount: explained, and drift',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1', amount: 900 })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'a refund without payment and charge, of a cash balance',
    play: shop => postCreated(shop, 're_1', 700, { charge: null, payment_intent: null }),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'a refund with another prefix, made by a bank transfer',
    play: shop => postCreated(shop, 'pyr_1', 700),
    verdicts: ['refund pyr_1 unexplained'],
    alerts: ['opened pyr_1'],
  },
  {
    name: 'yen, which have no decimals',
    async play(shop) {
      await reportRefund(shop, { currency: 'jpy', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700, { currency: 'jpy' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: "a refund of a customer's cash balance, and our operation names the customer",
    async play(shop) {
      await reportRefund(shop, { subject: 'cus_1', provider_ref: 're_1', state: 'completed' })
      const balance = { charge: null, payment_intent: null, customer: 'cus_1' }
      await postCreated(shop, 're_1', 700, { ...balance, destination_details: { type: 'customer_cash_balance' } })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'our operation names the invoice of the refunded payment',
    async play(shop) {
      await reportRefund(shop, { subject: 'in_1', provider_ref: 're_1', state: 'completed' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'our operation names another payment than that of the refund',
    async play(shop) {
      await reportRefund(shop, { subject: 'pi_2', provider_ref: 're_1', state: 'completed' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'a refund of amount 0 that is not reported',
    play: shop => postCreated(shop, 're_1', 0),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'a refund of amount 0, with the total of its charge',
    async play(shop) {
      await postTotal(shop, 0, 0, {}, { request: requestOfRefund('re_1') })
      await postCreated(shop, 're_1', 0)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an authorization that somebody releases: no money moved',
    play: shop => postTotal(shop, 700, 0, { amount_captured: 0, captured: false, paid: true }),
    verdicts: ['refund of 700 unexplained'],
    alerts: ['opened of 700'],
    summaries: ['A release of an authorization of EUR 7.00 on pi_1 was made at the provider: no money moved'],
  },
  {
    name: 'an authorization that somebody releases, with the event of its refund',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      const uncaptured = { amount_captured: 0, captured: false }
      await postTotal(shop, 700, 0, uncaptured, { request: requestOfRefund('re_1') })
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
    summaries: ['A release of an authorization of EUR 7.00 on pi_1 was made at the provider: no money moved'],
  },
  {
    name: 'a refund on a connected account',
    play: shop =>
      shop.post({ ...event('refund.created', refund('re_1', 700, shop.now()), { at: shop.now() }), account: 'acct_1' }),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an authorization that expires uncaptured: no money moved',
    play: shop => postCreated(shop, 're_1', 700, { reason: 'expired_uncaptured_charge' }, { request: null }),
    verdicts: ['refund re_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a refund that was made before the connection',
    play: shop =>
      shop.post(event('refund.updated', refund('re_1', 700, shop.now() - 3_600), { at: shop.now(), previous: {} })),
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'only the metadata of a refund from before the connection change',
    play: shop =>
      shop.post(
        event('refund.updated', refund('re_1', 700, shop.now() - 86_400, { metadata: { ticket: '7' } }), {
          at: shop.now(),
          previous: { metadata: {} },
        }),
      ),
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'the metadata names an operation, which explains nothing',
    play: shop => postCreated(shop, 're_1', 700, { metadata: { operation_id: 'op_7f2' } }),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'only the update of a refund arrives, its creation was lost',
    play: shop => postUpdated(shop, 're_1', 700, 'succeeded'),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'the older alias charge.refund.updated alone',
    play: shop =>
      shop.post(event('charge.refund.updated', refund('re_1', 700, shop.now()), { at: shop.now(), previous: {} })),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'the update arrives before the creation: one refund',
    async play(shop) {
      await postUpdated(shop, 're_1', 700, 'succeeded')
      await postCreated(shop, 're_1', 700, { status: 'pending' })
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'not alerted with out_of_band ignore',
    outOfBand: 'ignore',
    play: shop => postCreated(shop, 're_1', 700),
    verdicts: ['refund re_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'out_of_band auto, before any operation of the account',
    outOfBand: 'auto',
    play: shop => postCreated(shop, 're_1', 700),
    verdicts: ['refund re_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'out_of_band auto, after an operation of the account',
    outOfBand: 'auto',
    async play(shop) {
      await reportRefund(shop, { subject: 'pi_9', state: 'executing' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'set to alert within the minute',
    outOfBand: 'ignore',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await shop.change({ out_of_band: 'alert' })
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an expected change for this payment',
    async play(shop) {
      await shop.expectChange({
        kind: 'refund',
        subject: 'pi_1',
      })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'an expected change covers one refund, not the second one',
    async play(shop) {
      await shop.expectChange({
        kind: 'refund',
        subject: 'pi_1',
      })
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await postCreated(shop, 're_2', 800)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained'],
    alerts: ['opened re_2'],
  },
  {
    name: 'an expected change that is made after the alert resolves it',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await shop.expectChange({ kind: 'refund', subject: 'pi_1' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['opened re_1', 'resolved re_1'],
  },
  {
    name: 'an expected change that covers two refunds',
    async play(shop) {
      await shop.expectChange({ kind: 'refund', subject: 'pi_1', max_changes: 2 })
      await postCreated(shop, 're_1', 700)
      await postCreated(shop, 're_2', 800)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 explained'],
    alerts: [],
  },
  {
    name: 'an expected change that covers 1,000 in total',
    async play(shop) {
      await shop.expectChange({ kind: 'refund', subject: 'pi_1', max_changes: 5, max_amount: 1_000, currency: 'eur' })
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await postCreated(shop, 're_2', 700)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained'],
    alerts: ['opened re_2'],
  },
  {
    name: 'an expected cancellation covers no refund',
    async play(shop) {
      await shop.expectChange({ kind: 'cancellation' })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'an expected change on any payment covers a refund across two payments once',
    async play(shop) {
      await shop.expectChange({ kind: 'refund' })
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await postCreated(shop, 're_2', 700, { payment_intent: 'pi_2', charge: 'ch_2' })
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained'],
    alerts: ['opened re_2'],
  },
  {
    name: 'three equal refunds and one operation that names none',
    async play(shop) {
      await reportRefund(shop, { state: 'completed' })
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await postCreated(shop, 're_2', 700)
      await shop.untilJudged('re_2')
      await postCreated(shop, 're_3', 700)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 unexplained', 'refund re_3 unexplained'],
    alerts: ['opened re_2', 'opened re_3'],
  },
  {
    name: 'a refund names only its charge, our operation only the payment, and a total links them',
    async play(shop) {
      await reportRefund(shop, { state: 'completed' })
      await postCreated(shop, 're_1', 700, { payment_intent: null })
      await postTotal(shop, 700, 0, {}, { request: requestOfRefund('re_1') })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'the same, where the total comes first',
    async play(shop) {
      await postTotal(shop, 700, 0, {}, { request: requestOfRefund('re_1') })
      await postCreated(shop, 're_1', 700, { payment_intent: null })
      await reportRefund(shop, { state: 'completed' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: [],
  },
  {
    name: 'a refund.failed event alone',
    play: shop =>
      shop.post(
        event('refund.failed', refund('re_1', 700, shop.now(), { status: 'failed', failure_reason: 'declined' }), {
          at: shop.now(),
          previous: { status: 'pending' },
        }),
      ),
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'a dispute is not a refund',
    play: shop =>
      shop.post(
        event(
          'charge.dispute.created',
          {
            id: 'dp_1',
            object: 'dispute',
            amount: 700,
            charge: 'ch_1',
            created: shop.now(),
            currency: 'eur',
            payment_intent: 'pi_1',
            reason: 'fraudulent',
            status: 'needs_response',
          },
          { at: shop.now(), request: null },
        ),
      ),
    verdicts: [],
    alerts: [],
  },
]

/** Refunds that the product knows only by the total of their charge, because the API version is old or events are lost. */
export const PROCESSOR_TOTALS: readonly History[] = [
  {
    name: 'only the total of a charge arrives',
    play: shop => postTotal(shop, 700, 0),
    verdicts: ['refund of 700 unexplained'],
    alerts: ['opened of 700'],
  },
  {
    name: 'the total of our own refund, known by payment and amount',
    async play(shop) {
      await reportRefund(shop, { state: 'completed' })
      await postTotal(shop, 700, 0)
    },
    verdicts: ['refund of 700 explained'],
    alerts: [],
  },
  {
    name: 'the total of our own refund, known by its key',
    async play(shop) {
      await reportRefund(shop, { idempotency_key: 'k1' })
      await postTotal(shop, 700, 0, {}, { request: requestWithKey('k1') })
    },
    verdicts: ['refund of 700 explained'],
    alerts: [],
  },
  {
    name: 'a refund and then its total',
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await postTotal(shop, 700, 0, {}, { request: requestOfRefund('re_1') })
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: 'a total and then its refund',
    async play(shop) {
      await postTotal(shop, 700, 0, {}, { request: requestOfRefund('re_1') })
      await postCreated(shop, 're_1', 700)
    },
    verdicts: ['refund re_1 unexplained'],
    alerts: ['opened re_1'],
  },
  {
    name: "the first refund's event and the second one's total, both of 700",
    async play(shop) {
      await postCreated(shop, 're_1', 700)
      await postTotal(shop, 1_400, 700)
    },
    verdicts: ['refund of 700 unexplained', 'refund re_1 unexplained'],
    alerts: ['opened of 700', 'opened re_1'],
  },
  {
    name: 'the same, in the other order',
    async play(shop) {
      const at = shop.now()
      await postTotal(shop, 1_400, 700)
      await shop.post(event('refund.created', refund('re_1', 700, at - 0), { at }))
    },
    verdicts: ['refund of 700 unexplained', 'refund re_1 unexplained'],
    alerts: ['opened of 700', 'opened re_1'],
  },
  {
    name: 'our refund explained, and a second equal one that only the total shows',
    async play(shop) {
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
      await postCreated(shop, 're_1', 700)
      await postTotal(shop, 1_400, 700)
    },
    verdicts: ['refund of 700 unexplained', 'refund re_1 explained'],
    alerts: ['opened of 700'],
  },
  {
    name: 'a total that skips a refund that was lost',
    async play(shop) {
      await postCreated(shop, 're_2', 800)
      await postTotal(shop, 1_500, 700, {}, { request: requestOfRefund('re_2') })
    },
    verdicts: ['refund of 700 unexplained', 'refund re_2 unexplained'],
    alerts: ['opened of 700', 'opened re_2'],
  },
  {
    name: 'a total without its previous value, and both refunds known',
    async play(shop) {
      await reportRefund(shop, { amount: 500, state: 'completed', provider_ref: 're_1' })
      await reportRefund(shop, { amount: 800, state: 'completed', provider_ref: 're_2' })
      await postCreated(shop, 're_1', 500)
      await postCreated(shop, 're_2', 800)
      await postTotal(shop, 1_300, null, {}, { request: requestOfRefund('re_2') })
    },
    verdicts: ['refund re_1 explained', 'refund re_2 explained'],
    alerts: [],
  },
  {
    name: 'one total for two refunds that are both explained',
    async play(shop) {
      await reportRefund(shop, { amount: 500, state: 'completed', provider_ref: 're_1' })
      await reportRefund(shop, { amount: 800, state: 'completed', provider_ref: 're_2' })
      await postTotal(shop, 1_300, 0, {}, { request: null })
      await postCreated(shop, 're_1', 500)
      await postCreated(shop, 're_2', 800)
    },
    verdicts: ['refund re_1 explained', 'refund re_2 explained'],
    alerts: [],
  },
  {
    name: 'an old API version lists the refunds in the charge',
    async play(shop) {
      await reportRefund(shop, { amount: 500, state: 'completed', provider_ref: 're_1' })
      await reportRefund(shop, { amount: 800, state: 'completed', provider_ref: 're_2' })
      const data = [refund('re_1', 500, shop.now()), refund('re_2', 800, shop.now())]
      await postTotal(shop, 1_300, 0, { refunds: { object: 'list', data, has_more: false } }, { request: null })
    },
    verdicts: ['refund re_1 explained', 'refund re_2 explained'],
    alerts: [],
  },
  {
    name: 'two totals of two unreported refunds',
    async play(shop) {
      await postTotal(shop, 500, 0)
      await postTotal(shop, 1_300, 500, {}, { request: requestOfRefund('a third') })
    },
    verdicts: ['refund of 500 unexplained', 'refund of 800 unexplained'],
    alerts: ['opened of 500', 'opened of 800'],
  },
  {
    name: 'two totals, the later one first',
    async play(shop) {
      const at = shop.now()
      await postTotal(shop, 1_300, 500, {}, { at: at + 1, request: requestOfRefund('a third') })
      await postTotal(shop, 500, 0, {}, { at })
    },
    verdicts: ['refund of 500 unexplained', 'refund of 800 unexplained'],
    alerts: ['opened of 500', 'opened of 800'],
  },
  {
    name: 'the same total in two events',
    async play(shop) {
      await postTotal(shop, 700, 0)
      await postTotal(shop, 700, 0)
    },
    verdicts: ['refund of 700 unexplained'],
    alerts: ['opened of 700'],
  },
  {
    name: 'a provisional refund has alerted, then the operation names the refund',
    async play(shop) {
      await postTotal(shop, 700, 0, {}, { request: requestOfRefund('re_1') })
      await reportRefund(shop, { state: 'requested' })
      await postCreated(shop, 're_1', 700)
      await shop.untilJudged('re_1')
      await reportRefund(shop, { state: 'completed', provider_ref: 're_1' })
    },
    verdicts: ['refund re_1 explained'],
    alerts: ['opened re_1', 'resolved re_1'],
  },
]
