import type { History, Shop } from './history.ts'
import { endedSubscription, endingSubscription, event, requestWithKey, subscription } from './processor-shapes.ts'
import { DELETED, postDeleted, postScheduledEnd, reportCancellation, UPDATED, withReason } from './processor-steps.ts'

const stranger = { verdicts: ['cancellation sub_1 unexplained'], alerts: ['opened sub_1'] }
const ours = { verdicts: ['cancellation sub_1 explained'], alerts: [] }
const nothing = { verdicts: [], alerts: [] }

const postUpdate = (shop: Shop, more: object, previous: object, options: object = {}) =>
  shop.post(event(UPDATED, subscription(more), { at: shop.now(), previous, ...options }))

/** Forms that the end of a subscription at the card processor can have. */
export const PROCESSOR_SUBSCRIPTION_FORMS: readonly History[] = [
  {
    name: 'our operation is reported while it executes, and completes after the event',
    async play(shop) {
      const operation = await reportCancellation(shop, { state: 'executing' })
      await postDeleted(shop, shop.now(), shop.now())
      await shop.reportTransition(operation, { to: 'completed' })
    },
    ...ours,
  },
  {
    name: 'our cancellation was only requested',
    async play(shop) {
      await reportCancellation(shop, { state: 'requested' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    ...stranger,
  },
  {
    name: 'a customer instead of the subscription is named, without a key',
    async play(shop) {
      await reportCancellation(shop, { subject: 'cus_1' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    ...stranger,
  },
  {
    name: 'a stranger sets the end twice: one cancellation',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.post(
        event(UPDATED, endingSubscription(at + 1, { cancel_at: at + 2_000_000 }), {
          at: at + 1,
          previous: { canceled_at: at },
        }),
      )
    },
    ...stranger,
  },
  {
    name: 'our software sets the end and moves it later',
    async play(shop) {
      const at = shop.now()
      await reportCancellation(shop, { idempotency_key: 'k1' })
      await postScheduledEnd(shop, at, { request: requestWithKey('k1') })
      await reportCancellation(shop, { idempotency_key: 'k2' })
      await shop.post(
        event(UPDATED, endingSubscription(at, { cancel_at: at + 3_000_000 }), {
          at: at + 1,
          previous: { cancel_at: at + 2_000_000 },
          request: requestWithKey('k2'),
        }),
      )
    },
    ...ours,
  },
  {
    name: 'a stranger sets the end, and our software cancels at once',
    async play(shop) {
      const at = shop.now()
      await postScheduledEnd(shop, at)
      await shop.untilJudged('sub_1')
      await reportCancellation(shop, { idempotency_key: 'k1' })
      const later = shop.now()
      await postDeleted(shop, later, later, { request: requestWithKey('k1') })
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_1 unexplained'],
    alerts: ['opened sub_1'],
  },
  {
    name: 'cancellation_details are missing, as in old API versions',
    play: shop => postDeleted(shop, shop.now(), shop.now(), {}, { cancellation_details: null }),
    ...stranger,
  },
  {
    name: 'an old API version sets the end: no cancel_at and no previous canceled_at',
    play: shop =>
      postUpdate(shop, { cancel_at_period_end: true, canceled_at: shop.now() }, { cancel_at_period_end: false }),
    ...stranger,
  },
  {
    name: 'only the update to canceled arrives',
    play: shop =>
      shop.post(
        event(UPDATED, endedSubscription(shop.now(), shop.now()), {
          at: shop.now(),
          previous: { status: 'active', canceled_at: null, ended_at: null },
        }),
      ),
    ...stranger,
  },
  {
    name: 'a stranger pauses the collection and resumes it',
    async play(shop) {
      await postUpdate(shop, { pause_collection: { behavior: 'void', resumes_at: null } }, { pause_collection: null })
      await postUpdate(shop, {}, { pause_collection: { behavior: 'void', resumes_at: null } })
    },
    ...nothing,
  },
  {
    name: 'the collection is paused, then our software cancels',
    async play(shop) {
      await postUpdate(shop, { pause_collection: { behavior: 'void', resumes_at: null } }, { pause_collection: null })
      await reportCancellation(shop)
      await postDeleted(shop, shop.now(), shop.now(), {}, { pause_collection: { behavior: 'void', resumes_at: null } })
    },
    ...ours,
  },
  {
    name: 'the collection is paused, then a stranger cancels',
    async play(shop) {
      await postUpdate(shop, { status: 'paused' }, { status: 'active' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    ...stranger,
  },
  {
    name: 'payments are late, the subscription becomes unpaid, and a stranger cancels it',
    async play(shop) {
      await postUpdate(shop, { status: 'past_due' }, { status: 'active' })
      await postUpdate(shop, { status: 'unpaid' }, { status: 'past_due' })
      await postDeleted(shop, shop.now(), shop.now())
    },
    ...stranger,
  },
  {
    name: 'a subscription becomes unpaid and stays',
    play: shop => postUpdate(shop, { status: 'unpaid' }, { status: 'past_due' }),
    ...nothing,
  },
  {
    name: 'a stranger cancels two subscriptions of one customer',
    async play(shop) {
      await postDeleted(shop, shop.now(), shop.now())
      await postDeleted(shop, shop.now(), shop.now(), {}, { id: 'sub_2' })
    },
    verdicts: ['cancellation sub_1 unexplained', 'cancellation sub_2 unexplained'],
    alerts: ['opened sub_1', 'opened sub_2'],
  },
  {
    name: 'our software cancels one of two subscriptions, a stranger the other',
    async play(shop) {
      await reportCancellation(shop)
      await postDeleted(shop, shop.now(), shop.now())
      await postDeleted(shop, shop.now(), shop.now(), {}, { id: 'sub_2' })
    },
    verdicts: ['cancellation sub_1 explained', 'cancellation sub_2 unexplained'],
    alerts: ['opened sub_2'],
  },
  {
    name: 'the customer cancels on a hosted page, and gives a reason',
    play: shop =>
      postScheduledEnd(
        shop,
        shop.now(),
        { request: { id: null, idempotency_key: null } },
        {
          cancellation_details: {
            comment: 'Too much for me',
            feedback: 'too_expensive',
            reason: 'cancellation_requested',
          },
        },
      ),
    ...stranger,
  },
  {
    name: 'the retention policy of the processor ends it',
    play: shop => postDeleted(shop, shop.now(), shop.now(), {}, withReason('canceled_by_retention_policy')),
    verdicts: ['cancellation sub_1 not_alerted'],
    alerts: [],
  },
  {
    name: 'a stranger cancels a connected account’s subscription',
    play: shop =>
      shop.post({
        ...event(DELETED, endedSubscription(shop.now(), shop.now()), { at: shop.now() }),
        account: 'acct_1',
      }),
    ...stranger,
  },
  {
    name: 'the metadata of the subscription name an operation, which explains nothing',
    play: shop => postDeleted(shop, shop.now(), shop.now(), {}, { metadata: { operation_id: 'op_1' } }),
    ...stranger,
  },
]
