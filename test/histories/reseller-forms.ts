import { type History, isoOf } from './history.ts'
import {
  adjustment,
  ended,
  endingWith,
  event,
  postRequest,
  postReview,
  postSubscription,
  reportCancellation,
  reportRefund,
} from './reseller-steps.ts'

const stranger = { verdicts: ['refund adj_1 unexplained'], alerts: ['opened adj_1'] }
const ours = { verdicts: ['refund adj_1 explained'], alerts: [] }
const strangerEnded = { verdicts: ['cancellation sub_1 unexplained'], alerts: ['opened sub_1'] }
const weEnded = { verdicts: ['cancellation sub_1 explained'], alerts: [] }
const nothing = { verdicts: [], alerts: [] }
const pausing = (at: number) => ({
  scheduled_change: { action: 'pause', effective_at: isoOf(at + 1_000_000), resume_at: null },
})

/** Forms that refunds and ends at the reseller can have. */
export const RESELLER_FORMS: readonly History[] = [
  {
    name: 'our operation names the subscription instead of the transaction',
    async play(shop) {
      await reportRefund(shop, { subject: 'sub_1' })
      await postRequest(shop)
    },
    ...ours,
  },
  {
    name: 'our operation names the customer',
    async play(shop) {
      await reportRefund(shop, { subject: 'ctm_1' })
      await postRequest(shop)
    },
    ...stranger,
  },
  {
    name: 'our operation names the customer and the adjustment',
    async play(shop) {
      await reportRefund(shop, { subject: 'ctm_1', provider_ref: 'adj_1' })
      await postRequest(shop)
    },
    ...ours,
  },
  {
    name: 'our operation states the amount without tax',
    async play(shop) {
      await reportRefund(shop, { amount: 583 })
      await postRequest(shop, {
        totals: { subtotal: '583', tax: '117', total: '700', fee: '35', earnings: '548', currency_code: 'EUR' },
      })
    },
    ...stranger,
  },
  {
    name: 'a refund of a transaction without a subscription',
    play: shop => postRequest(shop, { subscription_id: null }),
    ...stranger,
  },
  {
    name: 'our refund of a transaction without a subscription',
    async play(shop) {
      await reportRefund(shop)
      await postRequest(shop, { subscription_id: null })
    },
    ...ours,
  },
  {
    name: 'only the approval arrives',
    play: shop => postReview(shop, shop.now(), 'approved'),
    ...stranger,
  },
  {
    name: 'a stranger refunds two transactions',
    async play(shop) {
      await postRequest(shop)
      await postRequest(shop, { id: 'adj_2', transaction_id: 'txn_2' })
    },
    verdicts: ['refund adj_1 unexplained', 'refund adj_2 unexplained'],
    alerts: ['opened adj_1', 'opened adj_2'],
  },
  {
    name: 'a credit is taken back',
    play: shop => postRequest(shop, { action: 'credit_reverse', status: 'approved' }),
    ...nothing,
  },
  {
    name: 'a warning of a chargeback is taken back',
    play: shop => postRequest(shop, { action: 'chargeback_warning_reverse', status: 'approved' }),
    ...nothing,
  },
  {
    name: 'won, which have no decimals',
    async play(shop) {
      await reportRefund(shop, { amount: 9_000, currency: 'krw' })
      await postRequest(shop, { currency_code: 'KRW' }, '9000')
    },
    ...ours,
  },
  {
    name: 'amount 0',
    play: shop => postRequest(shop, {}, '0'),
    ...stranger,
  },
  {
    name: 'times with microseconds',
    async play(shop) {
      await reportRefund(shop)
      const at = isoOf(shop.now()).replace('.000Z', '.123456Z')
      await postRequest(shop, { created_at: at, updated_at: at })
    },
    ...ours,
  },
  {
    name: 'an event without a notification id, as the list of events has it',
    play: shop =>
      shop.post({ ...event('adjustment.created', adjustment(shop.now()), shop.now()), notification_id: null }),
    ...stranger,
  },
  {
    name: 'a refund of tax only',
    play: shop =>
      postRequest(shop, {
        type: 'tax',
        totals: { subtotal: '0', tax: '700', total: '700', fee: '0', earnings: '0', currency_code: 'EUR' },
      }),
    ...stranger,
  },
  {
    name: 'our refund in review, executing until the approval',
    async play(shop) {
      const at = shop.now()
      const operation = await reportRefund(shop, { provider_ref: 'adj_1' })
      await postRequest(shop)
      await shop.untilRecorded('adj_1')
      await shop.reportTransition(operation, { to: 'awaiting_review' })
      await postReview(shop, at, 'approved')
    },
    ...ours,
  },
  {
    name: 'the review of a stranger’s refund rejects it',
    async play(shop) {
      const at = shop.now()
      await postRequest(shop)
      await shop.untilJudged('adj_1')
      await postReview(shop, at, 'rejected')
    },
    // A rejection has an incident of its own only if an operation asked for the refund.
    ...stranger,
  },
  {
    name: 'custom_data name an operation, which explains nothing',
    play: shop =>
      postSubscription(shop, 'subscription.canceled', shop.now(), {
        ...ended(shop.now()),
        custom_data: { operation_id: 'op_1' },
      }),
    ...strangerEnded,
  },
  {
    name: 'a stranger cancels in the trial, at once',
    play: shop => postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now())),
    ...strangerEnded,
  },
  {
    name: 'paused, then cancelled by our software',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.paused', at, { status: 'paused', paused_at: isoOf(at) })
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription.canceled', at + 1, { ...ended(at + 1), paused_at: isoOf(at) })
    },
    ...weEnded,
  },
  {
    name: 'paused, then cancelled by a stranger',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.paused', at, { status: 'paused', paused_at: isoOf(at) })
      await postSubscription(shop, 'subscription.canceled', at + 1, { ...ended(at + 1), paused_at: isoOf(at) })
    },
    ...strangerEnded,
  },
  {
    name: 'set to pause, then a stranger sets it to end instead',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at, pausing(at))
      await postSubscription(shop, 'subscription.updated', at + 1, endingWith(at + 1))
    },
    ...strangerEnded,
  },
  {
    name: 'our end is taken back, then a stranger cancels at once',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription.updated', at, endingWith(at))
      await shop.untilJudged('sub_1')
      await postSubscription(shop, 'subscription.updated', shop.now(), {})
      await postSubscription(shop, 'subscription.canceled', shop.now() + 1, ended(shop.now() + 1))
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'a stranger ends two subscriptions, and ours is neither',
    async play(shop) {
      await reportCancellation(shop, { subject: 'sub_3' })
      await postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now()))
      await postSubscription(shop, 'subscription.canceled', shop.now(), { ...ended(shop.now()), id: 'sub_2' })
    },
    verdicts: ['cancellation sub_1 unexplained', 'cancellation sub_2 unexplained'],
    alerts: ['opened sub_1', 'opened sub_2'],
  },
  {
    name: 'an imported subscription is cancelled',
    play: shop =>
      postSubscription(shop, 'subscription.canceled', shop.now(), {
        ...ended(shop.now()),
        import_meta: { external_id: '88', imported_from: 'elsewhere' },
      }),
    ...strangerEnded,
  },
  {
    name: 'out_of_band auto, after an operation: a cancellation alerts',
    outOfBand: 'auto',
    async play(shop) {
      await reportCancellation(shop, { subject: 'sub_9' })
      await postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now()))
    },
    ...strangerEnded,
  },
]
