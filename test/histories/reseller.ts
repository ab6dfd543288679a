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

export const RESELLER: readonly History[] = [
  {
    name: 'a refund asked for in the dashboard',
    play: shop => postRequest(shop),
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'a refund that needed no review',
    play: shop => postRequest(shop, { status: 'approved' }),
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'a full refund of a stranger, approved later: one alert',
    async play(shop) {
      const at = shop.now()
      await postRequest(shop, { type: 'full' })
      await shop.untilJudged('adj_1')
      await postReview(shop, at, 'approved', { type: 'full' })
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'our refund, named',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'adj_1' })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'our refund, known by transaction and amount',
    async play(shop) {
      await reportRefund(shop)
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'our refund in review is rejected: an incident of its own',
    async play(shop) {
      const at = shop.now()
      const operation = await reportRefund(shop)
      await shop.reportTransition(operation, { to: 'awaiting_review', provider_ref: 'adj_1' })
      await postRequest(shop)
      await shop.untilRecorded('adj_1')
      await postReview(shop, at, 'rejected')
    },
    verdicts: ['refund adj_1 explained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'our refund in review is approved',
    async play(shop) {
      const at = shop.now()
      const operation = await reportRefund(shop)
      await shop.reportTransition(operation, { to: 'awaiting_review', provider_ref: 'adj_1' })
      await postRequest(shop)
      await shop.untilRecorded('adj_1')
      await postReview(shop, at, 'approved')
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'the approval arrives before the request',
    async play(shop) {
      const at = shop.now()
      await postReview(shop, at, 'approved')
      await shop.post(event('adjustment.created', adjustment(at), at))
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'two equal refunds, one of them ours',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'adj_1' })
      await postRequest(shop)
      await postRequest(shop, { id: 'adj_2' })
    },
    verdicts: ['refund adj_1 explained', 'refund adj_2 unexplained'],
    alerts: ['opened adj_2'],
  },
  {
    name: 'our operation has another amount',
    async play(shop) {
      await reportRefund(shop, { amount: 701 })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'our operation is on another transaction',
    async play(shop) {
      await reportRefund(shop, { subject: 'txn_2' })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'our operation is in another currency',
    async play(shop) {
      await reportRefund(shop, { currency: 'usd' })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'the reason names an operation, which explains nothing',
    play: shop => postRequest(shop, { reason: 'op:7f2' }),
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'yen, which have no decimals',
    async play(shop) {
      await reportRefund(shop, { amount: 500, currency: 'jpy' })
      await postRequest(shop, { currency_code: 'JPY' }, '500')
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'a chargeback is a dispute',
    play: shop => postRequest(shop, { action: 'chargeback', status: 'approved' }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a warning of a chargeback',
    play: shop => postRequest(shop, { action: 'chargeback_warning', status: 'approved' }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a chargeback is reversed',
    async play(shop) {
      await postRequest(shop, { action: 'chargeback', status: 'approved' })
      await postRequest(shop, { id: 'adj_2', action: 'chargeback_reverse', status: 'approved' })
    },
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a credit to the balance is no refund',
    play: shop => postRequest(shop, { action: 'credit', status: 'approved', credit_applied_to_balance: true }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a refund is reported again with a new notification',
    async play(shop) {
      const refund = adjustment(shop.now())
      await shop.post(event('adjustment.created', refund, shop.now(), 'evt_01k9a0m3v6n7q8r9s0t1u2v3w4'))
      await shop.post(event('adjustment.created', refund, shop.now(), 'evt_01k9a0m3v6n7q8r9s0t1u2v3w4'))
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'a refund that was asked for before the connection, and is approved now',
    play: shop => postReview(shop, shop.now() - 86_400, 'approved', { updated_at: isoOf(shop.now()) }),
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'an operation reported as failed, and the refund exists: explained, and drift',
    async play(shop) {
      const operation = await reportRefund(shop)
      await shop.reportTransition(operation, { to: 'failed', reason: 'timeout' })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 explained'],
    alerts: ['drift'],
  },
  {
    name: 'an expected refund of this amount',
    async play(shop) {
      await shop.expectChange({
        kind: 'refund',
        subject: 'txn_1',
        amount: 700,
        currency: 'eur',
      })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'an expected refund of another amount',
    async play(shop) {
      await shop.expectChange({
        kind: 'refund',
        subject: 'txn_1',
        amount: 900,
        currency: 'eur',
      })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'a refund on a connection with out_of_band ignore',
    outOfBand: 'ignore',
    play: shop => postRequest(shop),
    verdicts: ['refund adj_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'reported after the alert by its id',
    async play(shop) {
      await postRequest(shop)
      await shop.untilJudged('adj_1')
      await reportRefund(shop, { state: 'completed', provider_ref: 'adj_1' })
    },
    verdicts: ['refund adj_1 explained'],
    alerts: ['opened adj_1', 'resolved adj_1'],
  },
  {
    name: "a stranger's refund has alerted, then ours of the same amount is asked for",
    async play(shop) {
      await postRequest(shop)
      await shop.untilJudged('adj_1')
      const operation = await reportRefund(shop)
      await postRequest(shop, { id: 'adj_2' })
      await shop.reportTransition(operation, { to: 'awaiting_review', provider_ref: 'adj_2' })
    },
    verdicts: ['refund adj_1 unexplained', 'refund adj_2 explained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'cancelled at once in the dashboard: two events, one alert',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at, ended(at))
      await postSubscription(shop, 'subscription.canceled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'only subscription.canceled arrives',
    play: shop => postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now())),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'cancelled at once by our software',
    async play(shop) {
      await reportCancellation(shop)
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at, ended(at))
      await postSubscription(shop, 'subscription.canceled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'set to end with the period by a stranger',
    play: shop => postSubscription(shop, 'subscription.updated', shop.now(), endingWith(shop.now())),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'set to end with the period by our software, and it ends: one cancellation',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription.updated', at, endingWith(at, at + 3))
      await shop.untilRecorded('sub_1')
      await postSubscription(shop, 'subscription.updated', at + 3, ended(at + 3))
      await postSubscription(shop, 'subscription.canceled', at + 3, ended(at + 3))
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'set to end by a stranger while payment is late',
    play: shop =>
      postSubscription(shop, 'subscription.updated', shop.now(), { ...endingWith(shop.now()), status: 'past_due' }),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'payment was late, then the reseller ends it: dunning',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.past_due', at, { status: 'past_due' })
      await postSubscription(shop, 'subscription.canceled', at + 2, ended(at + 2))
    },
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'set to end, and the end is removed',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at, endingWith(at))
      await postSubscription(shop, 'subscription.updated', at + 1)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'a refund of amount 0 that is not reported',
    play: shop => postRequest(shop, {}, '0'),
    verdicts: ['refund adj_1 unexplained'],
    alerts: ['opened adj_1'],
  },
  {
    name: 'our operation names the customer of the refund',
    async play(shop) {
      await reportRefund(shop, { subject: 'ctm_1', provider_ref: 'adj_1', state: 'completed' })
      await postRequest(shop)
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'a stranger sets an end and takes it back within the minute',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at, endingWith(at))
      await postSubscription(shop, 'subscription.updated', at + 2)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['schedule_removal'],
    summaries: ['A cancellation on sub_1 was set at the provider and taken back (the subscription continues)'],
  },
  {
    name: 'paused, and then cancelled: nobody resumed it',
    async play(shop) {
      const at = shop.now()
      const paused = { paused_at: isoOf(at) }
      await postSubscription(shop, 'subscription.paused', at, { status: 'paused', ...paused })
      await postSubscription(shop, 'subscription.canceled', at + 2, { ...ended(at + 2), ...paused })
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['pause'],
  },
  {
    name: 'a pause, a resume',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.paused', at, { status: 'paused', paused_at: isoOf(at) })
      await postSubscription(shop, 'subscription.resumed', at + 2)
    },
    verdicts: [],
    alerts: [],
  },
  {
    name: 'set to pause with the period',
    play: shop =>
      postSubscription(shop, 'subscription.updated', shop.now(), {
        scheduled_change: { action: 'pause', effective_at: isoOf(shop.now() + 1_000), resume_at: null },
      }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'only the items change',
    play: shop => postSubscription(shop, 'subscription.updated', shop.now(), { items: [{ quantity: 5 }] }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a trial is set to end by a stranger',
    play: shop =>
      postSubscription(shop, 'subscription.updated', shop.now(), { ...endingWith(shop.now()), status: 'trialing' }),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'our cancellation reported as a refund explains nothing',
    async play(shop) {
      await reportRefund(shop, { subject: 'sub_1' })
      await postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now()))
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'an end that was set before the connection is carried out',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.updated', at - 86_400, endingWith(at - 86_400, at))
      await postSubscription(shop, 'subscription.canceled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'states arrive in the wrong order',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription.canceled', at + 3, ended(at + 3))
      await postSubscription(shop, 'subscription.updated', at, endingWith(at, at + 3))
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'a stranger refunds and cancels at once',
    async play(shop) {
      const at = shop.now()
      await postRequest(shop)
      await postSubscription(shop, 'subscription.canceled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 unexplained', 'refund adj_1 unexplained'],
    alerts: ['opened adj_1', 'opened sub_1'],
  },
  {
    name: 'our software refunds, a stranger cancels',
    async play(shop) {
      const at = shop.now()
      await reportRefund(shop, { provider_ref: 'adj_1' })
      await postRequest(shop)
      await postSubscription(shop, 'subscription.canceled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 unexplained', 'refund adj_1 explained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'an expected cancellation',
    async play(shop) {
      await shop.expectChange({ kind: 'cancellation', subject: 'sub_1' })
      await postSubscription(shop, 'subscription.canceled', shop.now(), ended(shop.now()))
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'an unknown status and an unknown action',
    async play(shop) {
      await postRequest(shop, { action: 'a_word_of_next_year' })
      await postRequest(shop, { id: 'adj_2', status: 'a_word_of_next_year' })
    },
    verdicts: ['refund adj_2 unexplained'],
    alerts: ['opened adj_2'],
  },
  {
    name: 'a refund reversed later stays one refund',
    async play(shop) {
      const at = shop.now()
      await reportRefund(shop, { state: 'completed', provider_ref: 'adj_1' })
      await postRequest(shop, { status: 'approved' })
      await shop.untilRecorded('adj_1')
      await postReview(shop, at, 'reversed')
    },
    verdicts: ['refund adj_1 explained'],
    alerts: [],
  },
  {
    name: 'a dispute and a refund of a stranger on one transaction',
    async play(shop) {
      await postRequest(shop, { action: 'chargeback', status: 'approved' })
      await postRequest(shop, { id: 'adj_2' })
    },
    verdicts: ['refund adj_2 unexplained'],
    alerts: ['opened adj_2'],
  },
  {
    name: 'a resume is scheduled for a paused subscription',
    play: shop =>
      postSubscription(shop, 'subscription.updated', shop.now(), {
        status: 'paused',
        paused_at: isoOf(shop.now()),
        scheduled_change: { action: 'resume', effective_at: isoOf(shop.now() + 1_000), resume_at: null },
      }),
    verdicts: [],
    alerts: [],
  },
]
