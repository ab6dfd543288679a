import type { BillerObject } from './biller-api.ts'
import type { History, Shop } from './history.ts'

let events = 0

/** An event with the fields of the biller's reference (chargebee 3.33.0). It is only a hint: the API decides. */
function event(type: string, at: number, content: object, more: object = {}): object {
  events += 1
  return {
    id: `ev_${events}`,
    object: 'event',
    occurred_at: at,
    source: 'admin_console',
    user: 'ops@example.com',
    api_version: 'v2',
    event_type: type,
    webhook_status: 'scheduled',
    webhooks: [],
    content,
    ...more,
  }
}

function transaction(at: number, more: object = {}): BillerObject {
  return {
    id: 'txn_r1',
    object: 'transaction',
    type: 'refund',
    status: 'success',
    amount: 700,
    currency_code: 'EUR',
    date: at,
    gateway: 'stripe',
    id_at_gateway: 're_1',
    payment_method: 'card',
    refunded_txn_id: 'txn_p1',
    subscription_id: 'sub_1',
    customer_id: 'cus_1',
    linked_credit_notes: [],
    linked_refunds: [],
    updated_at: at,
    resource_version: at * 1000,
    deleted: false,
    ...more,
  }
}

function creditNote(at: number, more: object = {}): BillerObject {
  return {
    id: 'CN-1',
    object: 'credit_note',
    customer_id: 'cus_1',
    subscription_id: 'sub_1',
    reference_invoice_id: 'INV-1',
    type: 'refundable',
    reason_code: 'service_unsatisfactory',
    status: 'refunded',
    total: 700,
    amount_allocated: 0,
    amount_refunded: 700,
    amount_available: 0,
    currency_code: 'EUR',
    date: at,
    updated_at: at,
    resource_version: at * 1000,
    linked_refunds: [],
    allocations: [],
    deleted: false,
    ...more,
  }
}

const refundOf = (id: string, amount: number, at: number) => ({
  txn_id: id,
  applied_amount: amount,
  applied_at: at,
  txn_status: 'success',
  txn_date: at,
  txn_amount: amount,
})

function subscription(at: number, more: object = {}): BillerObject {
  return {
    id: 'sub_1',
    object: 'subscription',
    customer_id: 'cus_1',
    status: 'active',
    current_term_end: at + 1_000_000,
    next_billing_at: at + 1_000_000,
    activated_at: at - 1_000_000,
    has_scheduled_changes: false,
    channel: 'web',
    updated_at: at,
    resource_version: at * 1000,
    deleted: false,
    ...more,
  }
}

const ending = (at: number, effectiveAt = at + 1_000_000) => ({
  status: 'non_renewing',
  cancelled_at: effectiveAt,
  cancel_schedule_created_at: at,
})
const ended = (at: number) => ({ status: 'cancelled', cancelled_at: at })

/** The provider has the refund and sends an event about it. */
async function refunded(shop: Shop, more: object = {}, eventMore: object = {}): Promise<void> {
  const at = shop.now()
  const object = transaction(at, more)
  shop.hold('transaction', object)
  await shop.post(event('payment_refunded', at, { transaction: object, customer: { id: 'cus_1' } }, eventMore))
}

async function shown(shop: Shop, type: string, at: number, more: object): Promise<void> {
  const object = subscription(at, more)
  shop.hold('subscription', object)
  await shop.post(event(type, at, { subscription: object, customer: { id: 'cus_1' } }))
}

const begin = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ subject: 'sub_1', amount: 700, currency: 'eur', state: 'completed', ...more })
const cancelling = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ kind: 'cancellation', subject: 'sub_1', state: 'completed', ...more })

const alone = { verdicts: ['refund txn_r1 unexplained'], heard: ['opened txn_r1'] }
const explained = { verdicts: ['refund txn_r1 explained'], heard: [] }
const nothing = { verdicts: [], heard: [] }
const strangerCancels = { verdicts: ['cancellation sub_1 unexplained'], heard: ['opened sub_1'] }
const weCancel = { verdicts: ['cancellation sub_1 explained'], heard: [] }
const endsByItself = { verdicts: ['cancellation sub_1 not_alerted'], heard: [] }

export const BILLER: readonly History[] = [
  { name: 'a refund in the admin console', play: shop => refunded(shop), ...alone },
  {
    name: 'a refund that is still in progress, as card refunds are',
    play: shop => refunded(shop, { status: 'in_progress' }),
    ...alone,
  },
  {
    name: 'a refund by an API key that nobody reported',
    play: shop => refunded(shop, {}, { source: 'api', user: 'leaked-key' }),
    ...alone,
  },
  {
    name: 'a recorded refund outside the gateway',
    play: shop => refunded(shop, { payment_method: 'check', gateway: 'not_applicable', id_at_gateway: null }),
    ...alone,
  },
  {
    name: 'our refund, named by its transaction',
    async play(shop) {
      await begin(shop, { provider_ref: 'txn_r1' })
      await refunded(shop)
    },
    ...explained,
  },
  {
    name: 'our refund, known by subscription and amount',
    async play(shop) {
      await begin(shop)
      await refunded(shop)
    },
    ...explained,
  },
  {
    name: 'our refund, known by the payment that it refunds',
    async play(shop) {
      await begin(shop, { subject: 'txn_p1' })
      await refunded(shop)
    },
    ...explained,
  },
  {
    name: 'our refund, named by its id at the gateway',
    async play(shop) {
      await begin(shop, { provider_ref: 're_1' })
      await refunded(shop)
    },
    ...explained,
  },
  {
    name: 'another amount',
    async play(shop) {
      await begin(shop, { amount: 701 })
      await refunded(shop)
    },
    ...alone,
  },
  {
    name: 'another subscription',
    async play(shop) {
      await begin(shop, { subject: 'sub_2' })
      await refunded(shop)
    },
    ...alone,
  },
  {
    name: 'the event lies: no such refund at the provider',
    play: shop =>
      shop.post(
        event('payment_refunded', shop.now(), { transaction: transaction(shop.now()), customer: { id: 'cus_1' } }),
      ),
    ...nothing,
  },
  {
    name: 'the event lies about the amount: the provider decides',
    async play(shop) {
      const at = shop.now()
      await begin(shop, { amount: 900 })
      shop.hold('transaction', transaction(at, { amount: 900 }))
      await shop.post(event('payment_refunded', at, { transaction: transaction(at), customer: { id: 'cus_1' } }))
    },
    ...explained,
  },
  {
    name: 'the same refund by payment_refunded and credit_note_created: one action',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { linked_refunds: [refundOf('txn_r1', 700, at)] })
      shop.hold('credit_note', note)
      await refunded(shop, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] })
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...alone,
  },
  {
    name: 'only credit_note_created tells of the refund',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { linked_refunds: [refundOf('txn_r1', 700, at)] })
      shop.hold('credit_note', note)
      shop.hold('transaction', transaction(at, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] }))
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...alone,
  },
  {
    name: 'a credit note that is to be refunded later is no refund',
    async play(shop) {
      const note = creditNote(shop.now(), { status: 'refund_due', amount_refunded: 0, amount_available: 700 })
      shop.hold('credit_note', note)
      await shop.post(event('credit_note_created', shop.now(), { credit_note: note }))
    },
    ...nothing,
  },
  {
    name: 'an adjustment of an unpaid invoice is no refund',
    async play(shop) {
      const note = creditNote(shop.now(), { type: 'adjustment', status: 'adjusted', amount_refunded: 0 })
      shop.hold('credit_note', note)
      await shop.post(event('credit_note_created', shop.now(), { credit_note: note }))
    },
    ...nothing,
  },
  {
    name: 'a chargeback is a dispute',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { reason_code: 'chargeback', linked_refunds: [] })
      shop.hold('credit_note', note)
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...nothing,
  },
  {
    name: 'two refunds of one credit note, both named',
    async play(shop) {
      await begin(shop, { amount: 500, provider_ref: 'txn_r1' })
      await begin(shop, { amount: 200, provider_ref: 'txn_r2' })
      await refunded(shop, { amount: 500, linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 500 }] })
      await refunded(shop, {
        id: 'txn_r2',
        amount: 200,
        id_at_gateway: 're_2',
        linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 200 }],
      })
    },
    verdicts: ['refund txn_r1 explained', 'refund txn_r2 explained'],
    heard: [],
  },
  {
    name: 'an operation names a credit note that became two refunds',
    async play(shop) {
      await begin(shop, { provider_ref: 'CN-1' })
      await refunded(shop, { amount: 500, linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 500 }] })
      await refunded(shop, {
        id: 'txn_r2',
        amount: 200,
        id_at_gateway: 're_2',
        linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 200 }],
      })
    },
    verdicts: ['refund txn_r1 explained', 'refund txn_r2 explained'],
    heard: [],
  },
  {
    name: 'a refund that the gateway declined',
    play: shop => refunded(shop, { status: 'failure', error_code: 'card_declined' }),
    ...alone,
  },
  {
    name: 'a refund from before the connection',
    play: shop => refunded(shop, { date: shop.now() - 86_400 }),
    ...explained,
  },
  {
    name: 'an id with a space and an umlaut, chosen by the merchant',
    play: shop => refunded(shop, { subscription_id: 'Söhne & Co 1', customer_id: 'Söhne & Co' }),
    ...alone,
  },
  {
    name: 'our refund on a subscription with an unusual id',
    async play(shop) {
      await begin(shop, { subject: 'Söhne & Co 1' })
      await refunded(shop, { subscription_id: 'Söhne & Co 1', customer_id: 'Söhne & Co' })
    },
    ...explained,
  },
  {
    name: 'reported after the alert by the transaction',
    async play(shop) {
      await refunded(shop)
      await shop.judged('txn_r1')
      await begin(shop, { provider_ref: 'txn_r1' })
    },
    verdicts: ['refund txn_r1 explained'],
    heard: ['opened txn_r1', 'resolved txn_r1'],
  },
  {
    name: 'no event was sent (suppressed by the caller): the sweep finds the refund',
    async play(shop) {
      shop.hold('transaction', transaction(shop.now()))
      await shop.judged('txn_r1')
    },
    ...alone,
  },
  {
    name: 'a payment is no refund',
    async play(shop) {
      const at = shop.now()
      const payment = transaction(at, { id: 'txn_p1', type: 'payment', refunded_txn_id: undefined })
      shop.hold('transaction', payment)
      await shop.post(event('payment_refunded', at, { transaction: payment, customer: { id: 'cus_1' } }))
    },
    ...nothing,
  },
  {
    name: 'cancelled at once in the admin console',
    play: shop => shown(shop, 'subscription_cancelled', shop.now(), ended(shop.now())),
    ...strangerCancels,
  },
  {
    name: 'cancelled at once by our software',
    async play(shop) {
      await cancelling(shop)
      await shown(shop, 'subscription_cancelled', shop.now(), ended(shop.now()))
    },
    ...weCancel,
  },
  {
    name: 'set to end with the term by a stranger',
    play: shop => shown(shop, 'subscription_cancellation_scheduled', shop.now(), ending(shop.now())),
    ...strangerCancels,
  },
  {
    name: 'set to end with the term by our software',
    async play(shop) {
      await cancelling(shop)
      await shown(shop, 'subscription_cancellation_scheduled', shop.now(), ending(shop.now()))
    },
    ...weCancel,
  },
  {
    name: 'set to end by our software, then carried out: one cancellation',
    async play(shop) {
      await cancelling(shop)
      const at = shop.now()
      await shown(shop, 'subscription_cancellation_scheduled', at, ending(at, at + 5))
      await shop.judged('sub_1')
      await shown(shop, 'subscription_cancelled', at + 5, { ...ended(at + 5), cancel_schedule_created_at: at })
    },
    ...weCancel,
  },
  {
    name: 'set to end by a stranger, then carried out: one alert',
    async play(shop) {
      const at = shop.now()
      await shown(shop, 'subscription_cancellation_scheduled', at, ending(at, at + 5))
      await shop.judged('sub_1')
      await shown(shop, 'subscription_cancelled', at + 5, { ...ended(at + 5), cancel_schedule_created_at: at })
    },
    ...strangerCancels,
  },
  {
    name: 'ended for non-payment',
    play: shop =>
      shown(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason: 'not_paid' }),
    ...endsByItself,
  },
  {
    name: 'a trial ends without a card',
    play: shop => shown(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason: 'no_card' }),
    ...endsByItself,
  },
  {
    name: 'ended by the fraud review',
    play: shop =>
      shown(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason: 'fraud_review_failed' }),
    ...endsByItself,
  },
  {
    name: 'the customer is not compliant',
    play: shop =>
      shown(shop, 'subscription_cancelled', shop.now(), {
        ...ended(shop.now()),
        cancel_reason: 'non_compliant_customer',
      }),
    ...endsByItself,
  },
  {
    name: 'a reason code of the site silences nothing',
    play: shop =>
      shown(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason_code: 'Not Paid' }),
    ...strangerCancels,
  },
  {
    name: 'the last term of a plan that has an end, and the end',
    async play(shop) {
      const at = shop.now()
      const last = { cancelled_at: at + 4, current_term_end: at + 4, remaining_billing_cycles: 0 }
      await shown(shop, 'subscription_changed', at, { status: 'non_renewing', ...last })
      await shown(shop, 'subscription_cancelled', at + 4, { status: 'cancelled', ...last })
    },
    ...endsByItself,
  },
  {
    name: 'paused: no cancellation',
    play: shop => shown(shop, 'subscription_paused', shop.now(), { status: 'paused', pause_date: shop.now() }),
    ...nothing,
  },
  {
    name: 'a pause is scheduled',
    play: shop => shown(shop, 'subscription_pause_scheduled', shop.now(), { pause_date: shop.now() + 1_000_000 }),
    ...nothing,
  },
  { name: 'resumed', play: shop => shown(shop, 'subscription_resumed', shop.now(), {}), ...nothing },
  { name: 'only its items changed', play: shop => shown(shop, 'subscription_changed', shop.now(), {}), ...nothing },
  {
    name: 'the event says cancelled, the provider says active',
    async play(shop) {
      const at = shop.now()
      shop.hold('subscription', subscription(at))
      await shop.post(
        event('subscription_cancelled', at, { subscription: subscription(at, ended(at)), customer: { id: 'cus_1' } }),
      )
    },
    ...nothing,
  },
  {
    name: 'a stranger cancels with a refund: three events in any order, two alerts',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, {
        linked_refunds: [refundOf('txn_r1', 700, at)],
        reason_code: 'subscription_cancellation',
      })
      shop.hold('credit_note', note)
      await shop.post(event('credit_note_created', at, { credit_note: note }))
      await refunded(shop, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] })
      await shown(shop, 'subscription_cancelled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 unexplained', 'refund txn_r1 unexplained'],
    heard: ['opened sub_1', 'opened txn_r1'],
  },
  {
    name: 'our software cancels with a refund',
    async play(shop) {
      const at = shop.now()
      await cancelling(shop)
      await begin(shop, { provider_ref: 'txn_r1' })
      await refunded(shop)
      await shown(shop, 'subscription_cancelled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 explained', 'refund txn_r1 explained'],
    heard: [],
  },
  {
    name: 'ignored, as the connection is set',
    outOfBand: 'ignore',
    play: shop => refunded(shop),
    verdicts: ['refund txn_r1 not_alerted'],
    heard: [],
  },
  {
    name: 'auto, before any operation',
    outOfBand: 'auto',
    play: shop => refunded(shop),
    verdicts: ['refund txn_r1 not_alerted'],
    heard: [],
  },
  {
    name: 'a subscription with an unusual id is cancelled by a stranger',
    async play(shop) {
      const at = shop.now()
      const object = { ...subscription(at, ended(at)), id: 'Müller / Sohn' }
      shop.hold('subscription', object)
      await shop.post(event('subscription_cancelled', at, { subscription: object, customer: { id: 'cus_1' } }))
    },
    verdicts: ['cancellation Müller / Sohn unexplained'],
    heard: ['opened Müller / Sohn'],
  },
  {
    name: 'a refund of an excess payment makes no credit note',
    play: shop => refunded(shop, { subscription_id: undefined, linked_credit_notes: [] }),
    ...alone,
  },
  {
    name: 'the start of a refund by direct debit',
    async play(shop) {
      const at = shop.now()
      const object = transaction(at, { status: 'in_progress', payment_method: 'direct_debit' })
      shop.hold('transaction', object)
      await shop.post(event('refund_initiated', at, { transaction: object, customer: { id: 'cus_1' } }))
    },
    ...alone,
  },
  {
    name: 'the same event three times',
    async play(shop) {
      const at = shop.now()
      const object = transaction(at)
      shop.hold('transaction', object)
      const told = event('payment_refunded', at, { transaction: object, customer: { id: 'cus_1' } })
      for (let time = 0; time < 3; time += 1) await shop.post(told)
    },
    ...alone,
  },
]
