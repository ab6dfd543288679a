import type { History, Shop } from './history.ts'
import { endedSubscription, endingSubscription, event, requestWithKey, subscription } from './processor-shapes.ts'
import {
  postDeleted,
  postScheduledEnd,
  reportCancellation,
  UPDATED,
  withoutRequest,
  withReason,
} from './processor-steps.ts'

/** Subscriptions of the card processor, without a read key. */
export const PROCESSOR_SUBSCRIPTIONS: readonly History[] = [
  {
    name: 'cancelled at once in the dashboard, not reported',
    play: shop => postDeleted(shop, shop.now(), shop.now()),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'cancelled at once by our software',
    async play(shop) {
      await reportCancellation(shop)
      await postDeleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'cancelled at once by our software, known by the key of the request',
    async play(shop) {
      await reportCancellation(shop, { subject: 'cus_1', idempotency_key: 'k1' })
      await postDeleted(shop, shop.now(), shop.now(), { request: requestWithKey('k1') })
    },
    verdicts: ['cancellation sub_1 explained'],
    // Drift, because the operation names customer cus_1 as its subject and not the subscription.
    alerts: ['drift'],
  },
  {
    name: 'an operation that names the subscription as its result',
    async play(shop) {
      await reportCancellation(shop, { subject: 'cus_1', provider_ref: 'sub_1' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'our operation cancelled another subscription',
    async play(shop) {
      await reportCancellation(shop, { subject: 'sub_2' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'our operation refunded, and the subscription was cancelled',
    async play(shop) {
      await shop.report({ subject: 'sub_1', amount: 700, currency: 'eur', state: 'completed' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'set to end in the customer portal (cancel_at), not reported',
    play: shop => postScheduledEnd(shop),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'set to end with the period (cancel_at_period_end), not reported',
    play: shop => postScheduledEnd(shop, shop.now(), {}, { cancel_at: null, cancel_at_period_end: true }),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'set to end by our software',
    async play(shop) {
      await reportCancellation(shop)
      await postScheduledEnd(shop)
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'set to end by our software, and the period ends: one cancellation',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await postScheduledEnd(shop, at)
      await shop.untilRecorded('sub_1')
      await postDeleted(shop, at, at + 5, withoutRequest)
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'set to end by a stranger, and the period ends: one alert',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.untilJudged('sub_1')
      await postDeleted(shop, at, at + 5, withoutRequest)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'the end of the period arrives before the scheduling of the end',
    async play(shop) {
      const at = shop.now()
      await postDeleted(shop, at, at + 5, withoutRequest)
      await postScheduledEnd(shop, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'our scheduled cancellation is executed today by a different request',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop, { idempotency_key: 'k1' })
      await postScheduledEnd(shop, at, { request: requestWithKey('k1') })
      await shop.untilJudged('sub_1')
      const later = at + 30
      await postDeleted(shop, later, later)
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'set to end, and the end is removed within the minute',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.post(
        event(UPDATED, subscription(), {
          at: at + 1,
          previous: {
            cancel_at: at + 2_000_000,
            canceled_at: at,
            cancellation_details: { reason: 'cancellation_requested' },
          },
        }),
      )
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'the same cancellation in two events',
    async play(shop) {
      const at = shop.now()
      await postDeleted(shop, at, at)
      await postDeleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'updated to canceled and deleted: one cancellation',
    async play(shop) {
      const at = shop.now()
      await shop.post(
        event(UPDATED, endedSubscription(at, at), { at, previous: { status: 'active', canceled_at: null } }),
      )
      await postDeleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'the last attempt to collect fails',
    play: shop => postDeleted(shop, shop.now(), shop.now(), withoutRequest, withReason('payment_failed')),
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'ended because of a dispute',
    play: shop => postDeleted(shop, shop.now(), shop.now(), withoutRequest, withReason('payment_disputed')),
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'the first payment is never made',
    async play(shop) {
      const at = shop.now()
      await shop.post(
        event(UPDATED, subscription({ status: 'incomplete_expired', ended_at: at, canceled_at: null }), {
          at,
          previous: { status: 'incomplete' },
          ...withoutRequest,
        }),
      )
    },
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'only the quantity changes',
    play: shop => shop.post(event(UPDATED, subscription(), { at: shop.now(), previous: { quantity: 1 } })),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'only the card changes',
    play: shop =>
      shop.post(event(UPDATED, subscription(), { at: shop.now(), previous: { default_payment_method: 'pm_1' } })),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a stranger sets an end and takes it back within the minute',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.post(
        event(UPDATED, subscription(), {
          at: at + 2,
          previous: {
            cancel_at: at + 2_000_000,
            canceled_at: at,
            cancellation_details: { reason: 'cancellation_requested' },
          },
        }),
      )
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['schedule_removal'],
    summaries: ['A cancellation on sub_1 was set at the provider and taken back (the subscription continues)'],
  },
  {
    name: 'a stranger sets an end, and takes it back after the alert',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.untilJudged('sub_1')
      await shop.post(
        event(UPDATED, subscription(), { at: shop.now(), previous: { cancel_at: at + 2_000_000, canceled_at: at } }),
      )
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['schedule_removal'],
    summaries: ['A cancellation on sub_1 was set at the provider and taken back (the subscription continues)'],
  },
  {
    name: 'a stranger sets an end and then an earlier one',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.post(
        event(UPDATED, endingSubscription(at + 2, { cancel_at: at + 1_000_000 }), {
          at: at + 2,
          previous: { cancel_at: at + 2_000_000, canceled_at: at },
        }),
      )
    },
    verdicts: ['cancellation sub_1 unexplained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1', 'opened sub_1'],
    summaries: [
      'A cancellation on sub_1 is scheduled at the provider',
      'A cancellation on sub_1 was set at the provider and did not take effect (another cancellation followed)',
    ],
  },
  {
    name: 'the service is paused, and then the subscription is cancelled: nobody resumed it',
    async play(shop) {
      const at = shop.now()
      await shop.post(event(UPDATED, subscription({ status: 'paused' }), { at, previous: { status: 'active' } }))
      await postDeleted(shop, at + 2, at + 2)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['pause'],
  },
  {
    name: 'collection is paused, and then the subscription is cancelled: nobody resumed it',
    async play(shop) {
      const at = shop.now()
      const paused = { pause_collection: { behavior: 'void', resumes_at: null } }
      await shop.post(event(UPDATED, subscription(paused), { at, previous: { pause_collection: null } }))
      await postDeleted(shop, at + 2, at + 2)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
    others: ['pause'],
  },
  {
    name: 'an event of an old API version, whose request is a text',
    async play(shop) {
      const at = shop.now()
      await shop.post({
        ...event('customer.subscription.deleted', endedSubscription(at, at), { at }),
        api_version: '2015-09-03',
        request: 'req_old',
      })
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'collection is paused: no cancellation',
    play: shop =>
      shop.post(
        event(UPDATED, subscription({ pause_collection: { behavior: 'void', resumes_at: null } }), {
          at: shop.now(),
          previous: { pause_collection: null },
        }),
      ),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'an end that was set before the connection is carried out',
    play: shop => postDeleted(shop, shop.now() - 86_400, shop.now(), withoutRequest),
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'the date of an end is moved by a stranger after our software had set it',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop)
      await postScheduledEnd(shop, at)
      await shop.untilJudged('sub_1')
      await shop.post(
        event(UPDATED, endingSubscription(at, { cancel_at: at + 3_000_000 }), {
          at: shop.now(),
          previous: { cancel_at: at + 2_000_000 },
        }),
      )
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'the end is removed, and set again by a stranger',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop, { idempotency_key: 'k1' })
      await postScheduledEnd(shop, at, { request: requestWithKey('k1') })
      await shop.untilJudged('sub_1')
      const back = shop.now()
      await shop.post(
        event(UPDATED, subscription(), { at: back, previous: { cancel_at: at + 2_000_000, canceled_at: at } }),
      )
      await postScheduledEnd(shop, back + 1)
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'our cancellation reported by key after the alert',
    async play(shop) {
      const at = shop.now()
      await postDeleted(shop, at, at, { request: requestWithKey('k1') })
      await shop.untilJudged('sub_1')
      await reportCancellation(shop, { idempotency_key: 'k1' })
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: ['opened sub_1', 'resolved sub_1'],
  },
  {
    name: 'a cancellation that somebody expected',
    async play(shop) {
      await shop.expectChange({
        kind: 'cancellation',
        subject: 'sub_1',
      })
      await postDeleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'out_of_band auto, before any operation: a cancellation does not alert',
    outOfBand: 'auto',
    play: shop => postDeleted(shop, shop.now(), shop.now()),
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a trial ends without a payment method',
    play: shop => {
      const at = shop.now()
      return postDeleted(shop, at, at, withoutRequest, {
        trial_end: at,
        trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
        default_payment_method: null,
        cancellation_details: { comment: null, feedback: null, reason: null },
      })
    },
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a stranger cancels in the trial',
    play: shop => {
      const at = shop.now()
      return postDeleted(shop, at, at, {}, { trial_end: at + 1_000_000 })
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
]

const schedule = (at: number, more: object = {}): object => ({
  id: 'sub_sched_1',
  object: 'subscription_schedule',
  canceled_at: null,
  completed_at: null,
  created: at,
  current_phase: { start_date: at, end_date: at + 2_000_000 },
  customer: 'cus_1',
  end_behavior: 'cancel',
  livemode: true,
  metadata: {},
  phases: [{ start_date: at, end_date: at + 2_000_000, items: [], trial_end: null }],
  released_at: null,
  released_subscription: null,
  status: 'active',
  subscription: 'sub_1',
  ...more,
})
const postSchedule = (shop: Shop, type: string, more: object = {}, options: object = {}) =>
  shop.post(event(`subscription_schedule.${type}`, schedule(shop.now(), more), { at: shop.now(), ...options }))

/** Subscriptions of the card processor that a schedule manages. */
export const PROCESSOR_SCHEDULES: readonly History[] = [
  {
    name: 'a schedule of a stranger ends the subscription later',
    play: shop => postSchedule(shop, 'created'),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'a schedule of our software ends the subscription later',
    async play(shop) {
      await reportCancellation(shop)
      await postSchedule(shop, 'created')
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'our operation names the schedule',
    async play(shop) {
      await reportCancellation(shop, { provider_ref: 'sub_sched_1' })
      await postSchedule(shop, 'created')
    },
    verdicts: ['cancellation sub_1 explained'],
    alerts: [],
  },
  {
    name: 'a schedule that does not end the subscription',
    play: shop => postSchedule(shop, 'created', { end_behavior: 'release' }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a schedule that now ends the subscription, and did not before',
    play: shop => postSchedule(shop, 'updated', {}, { previous: { end_behavior: 'release' } }),
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'only the notes of a schedule change',
    play: shop =>
      postSchedule(shop, 'updated', { end_behavior: 'release', metadata: { a: 'b' } }, { previous: { metadata: {} } }),
    verdicts: [],
    alerts: [],
  },
  {
    name: 'a schedule is cancelled at once by a stranger, and the subscription with it: one cancellation',
    async play(shop) {
      const at = shop.now()
      await postSchedule(shop, 'canceled', {
        end_behavior: 'release',
        status: 'canceled',
        canceled_at: at,
        current_phase: null,
      })
      await postDeleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
]
