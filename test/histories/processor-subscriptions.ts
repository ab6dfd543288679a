import type { History, Shop } from './history.ts'
import { byKey, ended, ending, event, subscription } from './processor-shapes.ts'

const UPDATED = 'customer.subscription.updated'
const DELETED = 'customer.subscription.deleted'

/** Reports a cancellation of the subscription. */
const cancelling = (shop: Shop, more: Record<string, unknown> = {}) =>
  shop.report({ kind: 'cancellation', subject: 'sub_1', state: 'completed', ...more })

const scheduled = (shop: Shop, at = shop.now(), options: object = {}, more: object = {}) =>
  shop.post(
    event(UPDATED, ending(at, more), {
      at,
      previous: { cancel_at: null, canceled_at: null, cancellation_details: { reason: null } },
      ...options,
    }),
  )
const deleted = (shop: Shop, requestedAt: number, endedAt: number, options: object = {}, more: object = {}) =>
  shop.post(event(DELETED, ended(requestedAt, endedAt, more), { at: endedAt, ...options }))
const automatic = { request: { id: null, idempotency_key: null } }
const because = (reason: string) => ({ cancellation_details: { comment: null, feedback: null, reason } })

/** Subscriptions of the card processor, without a read key. */
export const PROCESSOR_SUBSCRIPTIONS: readonly History[] = [
  {
    name: 'cancelled at once in the dashboard, reported by nobody',
    play: shop => deleted(shop, shop.now(), shop.now()),
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'cancelled at once by our software',
    async play(shop) {
      await cancelling(shop)
      await deleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'cancelled at once by our software, known by the key of the request',
    async play(shop) {
      await cancelling(shop, { subject: 'cus_1', idempotency_key: 'k1' })
      await deleted(shop, shop.now(), shop.now(), { request: byKey('k1') })
    },
    verdicts: ['cancellation sub_1 explained'],
    // The operation says that it cancelled for cus_1.
    heard: ['drift'],
  },
  {
    name: 'an operation that gives the subscription as what it made',
    async play(shop) {
      await cancelling(shop, { subject: 'cus_1', provider_ref: 'sub_1' })
      await deleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'our operation cancelled another subscription',
    async play(shop) {
      await cancelling(shop, { subject: 'sub_2' })
      await deleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'our operation refunded, and the subscription was cancelled',
    async play(shop) {
      await shop.report({ subject: 'sub_1', amount: 700, currency: 'eur', state: 'completed' })
      await deleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'set to end in the customer portal (cancel_at), reported by nobody',
    play: shop => scheduled(shop),
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'set to end with the period (cancel_at_period_end), reported by nobody',
    play: shop => scheduled(shop, shop.now(), {}, { cancel_at: null, cancel_at_period_end: true }),
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'set to end by our software',
    async play(shop) {
      await cancelling(shop)
      await scheduled(shop)
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'set to end by our software, and the period ends: one cancellation',
    async play(shop) {
      const at = shop.now()
      await cancelling(shop)
      await scheduled(shop, at)
      await shop.seen('sub_1')
      await deleted(shop, at, at + 5, automatic)
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'set to end by a stranger, and the period ends: one alert',
    async play(shop) {
      const at = shop.now()
      await scheduled(shop, at)
      await shop.judged('sub_1')
      await deleted(shop, at, at + 5, automatic)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'the end of the period comes first, the setting of it later',
    async play(shop) {
      const at = shop.now()
      await deleted(shop, at, at + 5, automatic)
      await scheduled(shop, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'our scheduled cancellation is executed today by a different request',
    async play(shop) {
      const at = shop.now()
      await cancelling(shop, { idempotency_key: 'k1' })
      await scheduled(shop, at, { request: byKey('k1') })
      await shop.judged('sub_1')
      const later = at + 30
      await deleted(shop, later, later)
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'set to end, taken back within the minute',
    async play(shop) {
      const at = shop.now()
      await scheduled(shop, at)
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
    heard: ['opened sub_1'],
  },
  {
    name: 'the same cancellation told twice',
    async play(shop) {
      const at = shop.now()
      await deleted(shop, at, at)
      await deleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'updated to canceled and deleted: one cancellation',
    async play(shop) {
      const at = shop.now()
      await shop.post(event(UPDATED, ended(at, at), { at, previous: { status: 'active', canceled_at: null } }))
      await deleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'the last try to collect failed',
    play: shop => deleted(shop, shop.now(), shop.now(), automatic, because('payment_failed')),
    verdicts: ['cancellation sub_1 not_alerted'],
    heard: [],
  },
  {
    name: 'ended because of a dispute',
    play: shop => deleted(shop, shop.now(), shop.now(), automatic, because('payment_disputed')),
    verdicts: ['cancellation sub_1 not_alerted'],
    heard: [],
  },
  {
    name: 'its first payment never came',
    async play(shop) {
      const at = shop.now()
      await shop.post(
        event(UPDATED, subscription({ status: 'incomplete_expired', ended_at: at, canceled_at: null }), {
          at,
          previous: { status: 'incomplete' },
          ...automatic,
        }),
      )
    },
    verdicts: ['cancellation sub_1 not_alerted'],
    heard: [],
  },
  {
    name: 'only the quantity changes',
    play: shop => shop.post(event(UPDATED, subscription(), { at: shop.now(), previous: { quantity: 1 } })),
    verdicts: [],
    heard: [],
  },
  {
    name: 'only the card changes',
    play: shop =>
      shop.post(event(UPDATED, subscription(), { at: shop.now(), previous: { default_payment_method: 'pm_1' } })),
    verdicts: [],
    heard: [],
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
    heard: [],
  },
  {
    name: 'an end that was set before the connection is carried out',
    play: shop => deleted(shop, shop.now() - 86_400, shop.now(), automatic),
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'the date of an end is moved by a stranger after our software had set it',
    async play(shop) {
      const at = shop.now()
      await cancelling(shop)
      await scheduled(shop, at)
      await shop.judged('sub_1')
      await shop.post(
        event(UPDATED, ending(at, { cancel_at: at + 3_000_000 }), {
          at: shop.now(),
          previous: { cancel_at: at + 2_000_000 },
        }),
      )
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'taken back, and set again by a stranger',
    async play(shop) {
      const at = shop.now()
      await cancelling(shop, { idempotency_key: 'k1' })
      await scheduled(shop, at, { request: byKey('k1') })
      await shop.judged('sub_1')
      const back = shop.now()
      await shop.post(
        event(UPDATED, subscription(), { at: back, previous: { cancel_at: at + 2_000_000, canceled_at: at } }),
      )
      await scheduled(shop, back + 1)
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'our cancellation reported by key after the alert',
    async play(shop) {
      const at = shop.now()
      await deleted(shop, at, at, { request: byKey('k1') })
      await shop.judged('sub_1')
      await cancelling(shop, { idempotency_key: 'k1' })
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: ['opened sub_1', 'resolved sub_1'],
  },
  {
    name: 'a cancellation that somebody expected',
    async play(shop) {
      await shop.expectChange({
        kind: 'cancellation',
        subject: 'sub_1',
      })
      await deleted(shop, shop.now(), shop.now())
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'auto, before any operation: a cancellation stays quiet',
    outOfBand: 'auto',
    play: shop => deleted(shop, shop.now(), shop.now()),
    verdicts: ['cancellation sub_1 not_alerted'],
    heard: [],
  },
  {
    name: 'a trial ends without a payment method',
    play: shop => {
      const at = shop.now()
      return deleted(shop, at, at, automatic, {
        trial_end: at,
        trial_settings: { end_behavior: { missing_payment_method: 'cancel' } },
        default_payment_method: null,
        cancellation_details: { comment: null, feedback: null, reason: null },
      })
    },
    verdicts: ['cancellation sub_1 not_alerted'],
    heard: [],
  },
  {
    name: 'a stranger cancels in the trial',
    play: shop => {
      const at = shop.now()
      return deleted(shop, at, at, {}, { trial_end: at + 1_000_000 })
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
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
const managed = (shop: Shop, type: string, more: object = {}, options: object = {}) =>
  shop.post(event(`subscription_schedule.${type}`, schedule(shop.now(), more), { at: shop.now(), ...options }))

/** Subscriptions of the card processor that a schedule manages. */
export const PROCESSOR_SCHEDULES: readonly History[] = [
  {
    name: 'a schedule of a stranger is to end the subscription',
    play: shop => managed(shop, 'created'),
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'a schedule of our software is to end the subscription',
    async play(shop) {
      await cancelling(shop)
      await managed(shop, 'created')
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'our operation names the schedule',
    async play(shop) {
      await cancelling(shop, { provider_ref: 'sub_sched_1' })
      await managed(shop, 'created')
    },
    verdicts: ['cancellation sub_1 explained'],
    heard: [],
  },
  {
    name: 'a schedule that lets the subscription go on',
    play: shop => managed(shop, 'created', { end_behavior: 'release' }),
    verdicts: [],
    heard: [],
  },
  {
    name: 'a schedule that is to end it now, and was to let it go on before',
    play: shop => managed(shop, 'updated', {}, { previous: { end_behavior: 'release' } }),
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
  {
    name: 'only the notes of a schedule change',
    play: shop =>
      managed(shop, 'updated', { end_behavior: 'release', metadata: { a: 'b' } }, { previous: { metadata: {} } }),
    verdicts: [],
    heard: [],
  },
  {
    name: 'a schedule is cancelled at once by a stranger, and the subscription with it: one cancellation',
    async play(shop) {
      const at = shop.now()
      await managed(shop, 'canceled', {
        end_behavior: 'release',
        status: 'canceled',
        canceled_at: at,
        current_phase: null,
      })
      await deleted(shop, at, at)
    },
    verdicts: ['cancellation sub_1 unexplained'],
    heard: ['opened sub_1'],
  },
]
