import {
  creditNote,
  ended,
  endingLater,
  event,
  lastTerm,
  postKnown,
  postRefund,
  postSubscription,
  refundOf,
  reportCancellation,
  reportRefund,
  subscription,
  transaction,
} from './biller-steps.ts'
import type { History, Shop } from './history.ts'

const DAY_S = 86_400

const stranger = { verdicts: ['refund txn_r1 unexplained'], alerts: ['opened txn_r1'] }
const ours = { verdicts: ['refund txn_r1 explained'], alerts: [] }
const strangerEnded = { verdicts: ['cancellation sub_1 unexplained'], alerts: ['opened sub_1'] }
const weEnded = { verdicts: ['cancellation sub_1 explained'], alerts: [] }
const nothing = { verdicts: [], alerts: [] }
const recorded = { payment_method: 'check', gateway: 'not_applicable', id_at_gateway: null }
const daysAgo = (shop: Shop, days: number) => shop.now() - days * DAY_S

/** Forms that refunds and ends at the subscription biller can have: dates that a person chooses, causes, sources. */
export const BILLER_FORMS: readonly History[] = [
  {
    name: 'a cheque of last month is recorded today',
    play: shop => postRefund(shop, { ...recorded, date: daysAgo(shop, 30) }),
    ...stranger,
  },
  {
    name: 'our software records a cheque of last month, and names it',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'txn_r1' })
      await postRefund(shop, { ...recorded, date: daysAgo(shop, 30) })
    },
    ...ours,
  },
  {
    name: 'our software records a cheque of last month, known by subscription and amount',
    async play(shop) {
      await reportRefund(shop)
      await postRefund(shop, { ...recorded, date: daysAgo(shop, 30) })
    },
    ...ours,
  },
  {
    name: 'a bank transfer with the date of tomorrow is recorded',
    play: shop => postRefund(shop, { ...recorded, payment_method: 'bank_transfer', date: daysAgo(shop, -1) }),
    ...stranger,
  },
  {
    name: 'a refund from before the connection, which no change has touched since',
    play: shop => {
      const at = daysAgo(shop, 30)
      return postRefund(shop, { date: at, updated_at: at, resource_version: at * 1000 }, { occurred_at: at })
    },
    ...ours,
  },
  {
    name: 'a person backdates a cancellation to last month',
    play: shop => postSubscription(shop, 'subscription_canceled_with_backdating', shop.now(), ended(daysAgo(shop, 30))),
    ...strangerEnded,
  },
  {
    name: 'our software backdates a cancellation to last month',
    async play(shop) {
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription_canceled_with_backdating', shop.now(), ended(daysAgo(shop, 30)))
    },
    ...weEnded,
  },
  {
    name: 'an older site sets the end without the time at which it was set',
    play(shop) {
      const at = shop.now()
      return postKnown(shop, 'subscription_cancellation_scheduled', at, lastTerm(at, at + 20 * DAY_S))
    },
    ...strangerEnded,
  },
  {
    name: 'our software sets the end, then the biller cannot collect and ends it',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription_cancellation_scheduled', at, endingLater(at))
      await shop.untilRecorded('sub_1')
      await postSubscription(shop, 'subscription_cancelled', at + 2, { ...ended(at + 2), cancel_reason: 'not_paid' })
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a refund through another gateway',
    play: shop =>
      postRefund(shop, {
        gateway: 'paypal_express_checkout',
        id_at_gateway: '88X',
        payment_method: 'paypal_express_checkout',
      }),
    ...stranger,
  },
  {
    name: 'dinars with three decimals',
    async play(shop) {
      await reportRefund(shop, { amount: 7_000, currency: 'kwd' })
      await postRefund(shop, { amount: 7_000, currency_code: 'KWD' })
    },
    ...ours,
  },
  {
    name: 'amount 0',
    play: shop => postRefund(shop, { amount: 0 }),
    ...stranger,
  },
  {
    name: 'a key with the name of our software, and no operation: a name explains nothing',
    play: shop => postRefund(shop, {}, { source: 'api', user: 'backstop' }),
    ...stranger,
  },
  {
    name: 'somebody has to check the gateway',
    play: shop => postRefund(shop, { status: 'needs_attention' }),
    ...stranger,
  },
  {
    name: 'two refunds, and one operation with their sum',
    async play(shop) {
      await reportRefund(shop, { amount: 1_400 })
      await postRefund(shop)
      await postRefund(shop, { id: 'txn_r2', id_at_gateway: 're_2' })
    },
    verdicts: ['refund txn_r1 unexplained', 'refund txn_r2 unexplained'],
    alerts: ['opened txn_r1', 'opened txn_r2'],
  },
  {
    name: 'our operation names the credit note that the refund pays out',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'CN-1' })
      await postRefund(shop, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700, cn_status: 'refunded' }] })
    },
    ...ours,
  },
  {
    name: 'our operation names the invoice',
    async play(shop) {
      await reportRefund(shop, { subject: 'INV-1' })
      await postRefund(shop, {
        linked_credit_notes: [
          { cn_id: 'CN-1', applied_amount: 700, cn_status: 'refunded', cn_reference_invoice_id: 'INV-1' },
        ],
      })
    },
    ...ours,
  },
  {
    name: 'a credit note is refunded later by a stranger',
    async play(shop) {
      const at = shop.now()
      shop.setApiObject(
        'credit_note',
        creditNote(at, { status: 'refund_due', amount_refunded: 0, amount_available: 700 }),
      )
      await shop.post(event('credit_note_created', at, { credit_note: { id: 'CN-1' } }))
      shop.setApiObject('transaction', transaction(at + 1))
      shop.setApiObject('credit_note', creditNote(at + 1, { linked_refunds: [refundOf('txn_r1', 700, at + 1)] }))
      await shop.post(event('credit_note_updated', at + 1, { credit_note: { id: 'CN-1' } }))
    },
    ...stranger,
  },
  {
    name: 'a credit note for the customer’s balance',
    async play(shop) {
      const at = shop.now()
      shop.setApiObject('credit_note', creditNote(at, { type: 'store', status: 'refund_due', amount_refunded: 0 }))
      await shop.post(event('credit_note_created', at, { credit_note: { id: 'CN-1' } }))
    },
    ...nothing,
  },
  {
    name: 'a subscription that has not begun is cancelled',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), activated_at: null }),
    ...strangerEnded,
  },
  {
    name: 'a stranger cancels, the subscription is reactivated, and our software cancels it',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_cancelled', at, ended(at))
      await shop.untilJudged('sub_1')
      await postSubscription(shop, 'subscription_reactivated', shop.now(), {})
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription_cancelled', shop.now() + 1, ended(shop.now() + 1))
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'paused, then cancelled by a stranger',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_paused', at, { status: 'paused', pause_date: at })
      await postSubscription(shop, 'subscription_cancelled', at + 1, { ...ended(at + 1), pause_date: at })
    },
    ...strangerEnded,
  },
  {
    name: 'somebody deletes the subscription',
    play: shop => postSubscription(shop, 'subscription_deleted', shop.now(), { ...ended(shop.now()), deleted: true }),
    ...strangerEnded,
  },
  {
    name: 'the customer ends it in the portal',
    async play(shop) {
      const at = shop.now()
      const object = subscription(at, endingLater(at))
      shop.setApiObject('subscription', object)
      await shop.post(
        event(
          'subscription_cancellation_scheduled',
          at,
          { subscription: object },
          { source: 'portal', user: undefined },
        ),
      )
    },
    ...strangerEnded,
  },
  {
    name: 'our operation executes during the second look, and completes later',
    async play(shop) {
      const operation = await reportRefund(shop, { state: 'executing' })
      await postRefund(shop)
      await shop.untilJudged('txn_r1')
      await shop.reportTransition(operation, { to: 'completed', provider_ref: 'txn_r1' })
    },
    ...ours,
  },
]
