import {
  creditNote,
  ended,
  endingLater,
  event,
  explainedCancellation,
  explainedRefund,
  lastTerm,
  noActions,
  notAlertedCancellation,
  olderCheque,
  postKnown,
  postRefund,
  postSubscription,
  refundOf,
  reportCancellation,
  reportRefund,
  subscription,
  transaction,
  unexplainedCancellation,
  unexplainedRefund,
} from './biller-steps.ts'
import type { History } from './history.ts'

export const BILLER: readonly History[] = [
  { name: 'a refund in the admin console', play: shop => postRefund(shop), ...unexplainedRefund },
  {
    name: 'a refund that is still in progress, as card refunds are',
    play: shop => postRefund(shop, { status: 'in_progress' }),
    ...unexplainedRefund,
  },
  {
    name: 'a refund by an API key that is not reported',
    play: shop => postRefund(shop, {}, { source: 'api', user: 'leaked-key' }),
    ...unexplainedRefund,
  },
  {
    name: 'a recorded refund outside the gateway',
    play: shop => postRefund(shop, { payment_method: 'check', gateway: 'not_applicable', id_at_gateway: null }),
    ...unexplainedRefund,
  },
  {
    name: 'our refund, named by its transaction',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'txn_r1' })
      await postRefund(shop)
    },
    ...explainedRefund,
  },
  {
    name: 'our refund, known by subscription and amount',
    async play(shop) {
      await reportRefund(shop)
      await postRefund(shop)
    },
    ...explainedRefund,
  },
  {
    name: 'our refund, known by the payment that it refunds',
    async play(shop) {
      await reportRefund(shop, { subject: 'txn_p1' })
      await postRefund(shop)
    },
    ...explainedRefund,
  },
  {
    name: 'our refund, named by its id at the gateway',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 're_1' })
      await postRefund(shop)
    },
    ...explainedRefund,
  },
  {
    name: 'another amount',
    async play(shop) {
      await reportRefund(shop, { amount: 701 })
      await postRefund(shop)
    },
    ...unexplainedRefund,
  },
  {
    name: 'another subscription',
    async play(shop) {
      await reportRefund(shop, { subject: 'sub_2' })
      await postRefund(shop)
    },
    ...unexplainedRefund,
  },
  {
    name: 'a false event: the refund does not exist at the provider',
    play: shop =>
      shop.post(
        event('payment_refunded', shop.now(), { transaction: transaction(shop.now()), customer: { id: 'cus_1' } }),
      ),
    ...noActions,
  },
  {
    name: 'an event with a false amount: the amount of the provider is used',
    async play(shop) {
      const at = shop.now()
      await reportRefund(shop, { amount: 900 })
      shop.setApiObject('transaction', transaction(at, { amount: 900 }))
      await shop.post(event('payment_refunded', at, { transaction: transaction(at), customer: { id: 'cus_1' } }))
    },
    ...explainedRefund,
  },
  {
    name: 'the same refund by payment_refunded and credit_note_created: one action',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { linked_refunds: [refundOf('txn_r1', 700, at)] })
      shop.setApiObject('credit_note', note)
      await postRefund(shop, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] })
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...unexplainedRefund,
  },
  {
    name: 'only credit_note_created shows the refund',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { linked_refunds: [refundOf('txn_r1', 700, at)] })
      shop.setApiObject('credit_note', note)
      shop.setApiObject(
        'transaction',
        transaction(at, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] }),
      )
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...unexplainedRefund,
  },
  {
    name: 'a credit note that is not yet refunded is no refund',
    async play(shop) {
      const note = creditNote(shop.now(), { status: 'refund_due', amount_refunded: 0, amount_available: 700 })
      shop.setApiObject('credit_note', note)
      await shop.post(event('credit_note_created', shop.now(), { credit_note: note }))
    },
    ...noActions,
  },
  {
    name: 'an adjustment of an unpaid invoice is no refund',
    async play(shop) {
      const note = creditNote(shop.now(), { type: 'adjustment', status: 'adjusted', amount_refunded: 0 })
      shop.setApiObject('credit_note', note)
      await shop.post(event('credit_note_created', shop.now(), { credit_note: note }))
    },
    ...noActions,
  },
  {
    name: 'a chargeback is a dispute',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, { reason_code: 'chargeback', linked_refunds: [] })
      shop.setApiObject('credit_note', note)
      await shop.post(event('credit_note_created', at, { credit_note: note }))
    },
    ...noActions,
  },
  {
    name: 'two refunds of one credit note, both named',
    async play(shop) {
      await reportRefund(shop, { amount: 500, provider_ref: 'txn_r1' })
      await reportRefund(shop, { amount: 200, provider_ref: 'txn_r2' })
      await postRefund(shop, { amount: 500, linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 500 }] })
      await postRefund(shop, {
        id: 'txn_r2',
        amount: 200,
        id_at_gateway: 're_2',
        linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 200 }],
      })
    },
    verdicts: ['refund txn_r1 explained', 'refund txn_r2 explained'],
    alerts: [],
  },
  {
    name: 'an operation names a credit note that became two refunds',
    async play(shop) {
      await reportRefund(shop, { provider_ref: 'CN-1' })
      await postRefund(shop, { amount: 500, linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 500 }] })
      await postRefund(shop, {
        id: 'txn_r2',
        amount: 200,
        id_at_gateway: 're_2',
        linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 200 }],
      })
    },
    verdicts: ['refund txn_r1 explained', 'refund txn_r2 explained'],
    alerts: [],
  },
  {
    name: 'a refund that the gateway declined',
    play: shop => postRefund(shop, { status: 'failure', error_code: 'card_declined' }),
    ...unexplainedRefund,
  },
  {
    name: 'a refund from before the connection',
    play: shop => postRefund(shop, { date: shop.now() - 86_400 }),
    ...explainedRefund,
  },
  {
    name: 'a cheque that is recorded with a date from before the connection',
    play: shop => postRefund(shop, olderCheque(shop)),
    ...unexplainedRefund,
  },
  {
    name: 'the same, and the provider shows its event',
    async play(shop) {
      const object = transaction(shop.now(), olderCheque(shop))
      const known = event('payment_refunded', shop.now(), { transaction: object, customer: { id: 'cus_1' } })
      shop.setApiObject('transaction', object)
      shop.setApiObject('event', known)
      await shop.post(known)
    },
    ...unexplainedRefund,
  },
  {
    name: 'the same without a notification: the sweep finds it',
    async play(shop) {
      shop.setApiObject('transaction', transaction(shop.now(), olderCheque(shop)))
      await shop.untilJudged('txn_r1')
    },
    ...unexplainedRefund,
  },
  {
    name: 'a cheque that our software records with an earlier date',
    async play(shop) {
      await reportRefund(shop)
      await postRefund(shop, olderCheque(shop))
    },
    ...explainedRefund,
  },
  {
    name: 'a cheque from before the connection that changes later: its event says when it was recorded',
    async play(shop) {
      const before = shop.now() - 86_400
      const object = transaction(shop.now(), olderCheque(shop))
      const known = event('payment_refunded', before, { transaction: { ...object, updated_at: before } })
      shop.setApiObject('event', known)
      shop.setApiObject('transaction', object)
      await shop.post(known)
    },
    ...explainedRefund,
  },
  {
    name: 'an id with a space and an umlaut, chosen by the merchant',
    play: shop => postRefund(shop, { subscription_id: 'Söhne & Co 1', customer_id: 'Söhne & Co' }),
    ...unexplainedRefund,
  },
  {
    name: 'our refund on a subscription with an unusual id',
    async play(shop) {
      await reportRefund(shop, { subject: 'Söhne & Co 1' })
      await postRefund(shop, { subscription_id: 'Söhne & Co 1', customer_id: 'Söhne & Co' })
    },
    ...explainedRefund,
  },
  {
    name: 'reported after the alert by the transaction',
    async play(shop) {
      await postRefund(shop)
      await shop.untilJudged('txn_r1')
      await reportRefund(shop, { provider_ref: 'txn_r1' })
    },
    verdicts: ['refund txn_r1 explained'],
    alerts: ['opened txn_r1', 'resolved txn_r1'],
  },
  {
    name: 'no event was sent (suppressed by the caller): the sweep finds the refund',
    async play(shop) {
      shop.setApiObject('transaction', transaction(shop.now()))
      await shop.untilJudged('txn_r1')
    },
    ...unexplainedRefund,
  },
  {
    name: 'a payment is no refund',
    async play(shop) {
      const at = shop.now()
      const payment = transaction(at, { id: 'txn_p1', type: 'payment', refunded_txn_id: undefined })
      shop.setApiObject('transaction', payment)
      await shop.post(event('payment_refunded', at, { transaction: payment, customer: { id: 'cus_1' } }))
    },
    ...noActions,
  },
  {
    name: 'cancelled at once in the admin console',
    play: shop => postSubscription(shop, 'subscription_cancelled', shop.now(), ended(shop.now())),
    ...unexplainedCancellation,
  },
  {
    name: 'cancelled at once by our software',
    async play(shop) {
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription_cancelled', shop.now(), ended(shop.now()))
    },
    ...explainedCancellation,
  },
  {
    name: 'cancelled as of a day before the connection',
    async play(shop) {
      const object = subscription(shop.now(), ended(shop.now() - 20 * 86_400))
      await postKnown(shop, 'subscription_canceled_with_backdating', shop.now(), object)
    },
    ...unexplainedCancellation,
  },
  {
    name: 'the same, and the provider does not show its event',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_canceled_with_backdating', at, ended(at - 20 * 86_400))
    },
    ...unexplainedCancellation,
  },
  {
    name: 'cancelled as of a day before the connection by our software',
    async play(shop) {
      await reportCancellation(shop)
      const object = subscription(shop.now(), ended(shop.now() - 20 * 86_400))
      await postKnown(shop, 'subscription_canceled_with_backdating', shop.now(), object)
    },
    ...explainedCancellation,
  },
  {
    name: 'set to end with the term, at a site that shows it like the end of the plan, and carried out',
    async play(shop) {
      const at = shop.now()
      const object = lastTerm(at, at + 5)
      await postKnown(shop, 'subscription_cancellation_scheduled', at, object)
      await shop.untilJudged('sub_1')
      const over = { ...object, status: 'cancelled', updated_at: at + 5, resource_version: (at + 5) * 1000 }
      await postKnown(shop, 'subscription_cancelled', at + 5, over, { source: 'scheduled_job', user: undefined })
    },
    ...unexplainedCancellation,
  },
  {
    name: 'the same by our software',
    async play(shop) {
      await reportCancellation(shop)
      const at = shop.now()
      await postKnown(shop, 'subscription_cancellation_scheduled', at, lastTerm(at, at + 1_000_000))
    },
    ...explainedCancellation,
  },
  {
    name: 'set to end with the term by a stranger',
    play: shop => postSubscription(shop, 'subscription_cancellation_scheduled', shop.now(), endingLater(shop.now())),
    ...unexplainedCancellation,
  },
  {
    name: 'set to end with the term by our software',
    async play(shop) {
      await reportCancellation(shop)
      await postSubscription(shop, 'subscription_cancellation_scheduled', shop.now(), endingLater(shop.now()))
    },
    ...explainedCancellation,
  },
  {
    name: 'set to end by our software, then carried out: one cancellation',
    async play(shop) {
      await reportCancellation(shop)
      const at = shop.now()
      await postSubscription(shop, 'subscription_cancellation_scheduled', at, endingLater(at, at + 5))
      await shop.untilJudged('sub_1')
      await postSubscription(shop, 'subscription_cancelled', at + 5, {
        ...ended(at + 5),
        cancel_schedule_created_at: at,
      })
    },
    ...explainedCancellation,
  },
  {
    name: 'set to end by a stranger, then carried out: one alert',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_cancellation_scheduled', at, endingLater(at, at + 5))
      await shop.untilJudged('sub_1')
      await postSubscription(shop, 'subscription_cancelled', at + 5, {
        ...ended(at + 5),
        cancel_schedule_created_at: at,
      })
    },
    ...unexplainedCancellation,
  },
  {
    name: 'ended for non-payment',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason: 'not_paid' }),
    ...notAlertedCancellation,
  },
  {
    name: 'set to end by our software, then ended for non-payment at once: no alert',
    async play(shop) {
      await reportCancellation(shop)
      const at = shop.now()
      await postSubscription(shop, 'subscription_cancellation_scheduled', at, endingLater(at))
      await shop.untilJudged('sub_1')
      await postSubscription(shop, 'subscription_cancelled', at + 1, {
        ...ended(at + 1),
        cancel_schedule_created_at: at,
        cancel_reason: 'not_paid',
      })
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a trial ends without a card',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), { ...ended(shop.now()), cancel_reason: 'no_card' }),
    ...notAlertedCancellation,
  },
  {
    name: 'ended by the fraud review',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), {
        ...ended(shop.now()),
        cancel_reason: 'fraud_review_failed',
      }),
    ...notAlertedCancellation,
  },
  {
    name: 'the customer is not compliant',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), {
        ...ended(shop.now()),
        cancel_reason: 'non_compliant_customer',
      }),
    ...notAlertedCancellation,
  },
  {
    name: 'a reason code of the site prevents no alert',
    play: shop =>
      postSubscription(shop, 'subscription_cancelled', shop.now(), {
        ...ended(shop.now()),
        cancel_reason_code: 'Not Paid',
      }),
    ...unexplainedCancellation,
  },
  {
    name: 'the last term of a plan that has an end, and the end',
    async play(shop) {
      const at = shop.now()
      const last = { cancelled_at: at + 4, current_term_end: at + 4, remaining_billing_cycles: 0 }
      await postSubscription(shop, 'subscription_changed', at, { status: 'non_renewing', ...last })
      await postSubscription(shop, 'subscription_cancelled', at + 4, { status: 'cancelled', ...last })
    },
    ...notAlertedCancellation,
  },
  { name: 'a refund of amount 0', play: shop => postRefund(shop, { amount: 0 }), ...unexplainedRefund },
  {
    name: 'our operation names the customer of the refund',
    async play(shop) {
      await reportRefund(shop, { subject: 'cus_1', provider_ref: 'txn_r1' })
      await postRefund(shop)
    },
    ...explainedRefund,
  },
  {
    name: 'a stranger sets an end and takes it back within the minute',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_cancellation_scheduled', at, endingLater(at))
      await shop.untilRecorded('sub_1')
      await postSubscription(shop, 'subscription_scheduled_cancellation_removed', at + 2, { cancelled_at: null })
    },
    ...unexplainedCancellation,
    others: ['schedule_removal'],
    summaries: ['A cancellation on sub_1 was set at the provider and taken back (the subscription continues)'],
  },
  {
    name: 'paused, and then cancelled: nobody resumed it',
    async play(shop) {
      const at = shop.now()
      await postSubscription(shop, 'subscription_paused', at, { status: 'paused', pause_date: at })
      await shop.untilRecorded('sub_1')
      await postSubscription(shop, 'subscription_cancelled', at + 2, ended(at + 2))
    },
    ...unexplainedCancellation,
    others: ['pause'],
  },
  {
    name: 'paused: no cancellation',
    play: shop =>
      postSubscription(shop, 'subscription_paused', shop.now(), { status: 'paused', pause_date: shop.now() }),
    ...noActions,
  },
  {
    name: 'a pause is scheduled',
    play: shop =>
      postSubscription(shop, 'subscription_pause_scheduled', shop.now(), { pause_date: shop.now() + 1_000_000 }),
    ...noActions,
  },
  { name: 'resumed', play: shop => postSubscription(shop, 'subscription_resumed', shop.now(), {}), ...noActions },
  {
    name: 'only its items changed',
    play: shop => postSubscription(shop, 'subscription_changed', shop.now(), {}),
    ...noActions,
  },
  {
    name: 'the event says cancelled, the provider says active',
    async play(shop) {
      const at = shop.now()
      shop.setApiObject('subscription', subscription(at))
      await shop.post(
        event('subscription_cancelled', at, { subscription: subscription(at, ended(at)), customer: { id: 'cus_1' } }),
      )
    },
    ...noActions,
  },
  {
    name: 'a stranger cancels with a refund: three events in any order, two alerts',
    async play(shop) {
      const at = shop.now()
      const note = creditNote(at, {
        linked_refunds: [refundOf('txn_r1', 700, at)],
        reason_code: 'subscription_cancellation',
      })
      shop.setApiObject('credit_note', note)
      await shop.post(event('credit_note_created', at, { credit_note: note }))
      await postRefund(shop, { linked_credit_notes: [{ cn_id: 'CN-1', applied_amount: 700 }] })
      await postSubscription(shop, 'subscription_cancelled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 unexplained', 'refund txn_r1 unexplained'],
    alerts: ['opened sub_1', 'opened txn_r1'],
  },
  {
    name: 'our software cancels with a refund',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await reportRefund(shop, { provider_ref: 'txn_r1' })
      await postRefund(shop)
      await postSubscription(shop, 'subscription_cancelled', at, ended(at))
    },
    verdicts: ['cancellation sub_1 explained', 'refund txn_r1 explained'],
    alerts: [],
  },
  {
    name: 'not alerted with out_of_band ignore',
    outOfBand: 'ignore',
    play: shop => postRefund(shop),
    verdicts: ['refund txn_r1 not_alerted'],
    alerts: [],
  },
  {
    name: 'not alerted with out_of_band auto before any operation',
    outOfBand: 'auto',
    play: shop => postRefund(shop),
    verdicts: ['refund txn_r1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a subscription with an unusual id is cancelled by a stranger',
    async play(shop) {
      const at = shop.now()
      const object = { ...subscription(at, ended(at)), id: 'Müller / Sohn' }
      shop.setApiObject('subscription', object)
      await shop.post(event('subscription_cancelled', at, { subscription: object, customer: { id: 'cus_1' } }))
    },
    verdicts: ['cancellation Müller / Sohn unexplained'],
    alerts: ['opened Müller / Sohn'],
  },
  {
    name: 'a refund of an excess payment without a credit note',
    play: shop => postRefund(shop, { subscription_id: undefined, linked_credit_notes: [] }),
    ...unexplainedRefund,
  },
  {
    name: 'the start of a refund by direct debit',
    async play(shop) {
      const at = shop.now()
      const object = transaction(at, { status: 'in_progress', payment_method: 'direct_debit' })
      shop.setApiObject('transaction', object)
      await shop.post(event('refund_initiated', at, { transaction: object, customer: { id: 'cus_1' } }))
    },
    ...unexplainedRefund,
  },
  {
    name: 'the same event three times',
    async play(shop) {
      const at = shop.now()
      const object = transaction(at)
      shop.setApiObject('transaction', object)
      const refundEvent = event('payment_refunded', at, { transaction: object, customer: { id: 'cus_1' } })
      for (let time = 0; time < 3; time += 1) await shop.post(refundEvent)
    },
    ...unexplainedRefund,
  },
]
