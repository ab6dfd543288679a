/**
 * The card processor's API (compatible with Stripe's v1): a key as bearer token, lists newest first with `starting_after`
 * and `has_more`. Parameters as in the types of stripe 23.1.0.
 */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import { fieldAt, firstId } from '../event-fields.ts'
import type { ApiClient, ApiDialect, Budget } from '../http/api-client.ts'
import { baseUrl } from '../http/base-url.ts'
import { type Failed, failed } from '../http/failure.ts'
import { feedOf } from '../http/feeds.ts'
import {
  isProviderObject,
  lastIdIn,
  NO_USABLE_ID,
  type ProviderObject,
  readOne,
  readWhole,
  unusableItem,
} from '../http/objects.ts'
import type { Found } from '../http/read-targets.ts'
import { openReader } from '../http/reader.ts'
import type { Feed } from '../http/walk.ts'
import type { ReadBack } from '../read-back.ts'

/** The API version that `normaliseObject` supports: an account's default may be many years older. */
const API_VERSION = '2026-10-28.endive'

const DIALECT: ApiDialect = {
  name: 'The processor',
  headers: key => ({ authorization: `Bearer ${key.reveal()}`, 'stripe-version': API_VERSION }),
  codeOf: body => fieldAt(body, 'error', 'code') ?? fieldAt(body, 'error', 'type'),
  missingCodes: new Set(['resource_missing']),
  // Sent with 429, but means that another request is changing the object.
  notNowCodes: new Set(['lock_timeout']),
  objectIn: body => body,
  pageQuery: page => ({ starting_after: page }),
  pageIn: ({ data, has_more: hasMore }) => ({
    items: data,
    next: hasMore === false ? null : hasMore === true ? lastIdIn(data) : undefined,
  }),
}

/** The events to read. The API accepts at most 20 types. */
const EVENT_TYPES = [
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.refunded',
  'charge.refund.updated',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'subscription_schedule.created',
  'subscription_schedule.updated',
  'subscription_schedule.canceled',
  'subscription_schedule.released',
  'subscription_schedule.completed',
  'subscription_schedule.aborted',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
]
/** The fields of a subscription that decide whether it ends or pauses. Renewals and new items change none of them. */
const TELLING_FIELDS = [
  'status',
  'cancel_at',
  'cancel_at_period_end',
  'canceled_at',
  'ended_at',
  'cancellation_details',
  'pause_collection',
  'status_details',
  'schedule',
]

const PAGE_SIZE = 100
/** Smaller, because each event may need a read of its subscription and schedule. */
const EVENTS_PAGE_SIZE = 50
/** Smaller, because each subscription may need a read of its schedule. */
const BASELINE_PAGE_SIZE = 50

/** How the card processor's data is read. */
export const readBack: ReadBack = {
  // The limit is 25 a second for each endpoint, shared by everybody who uses the account (docs.stripe.com/rate-limits).
  limits: { requestsPerMinute: 1_000, concurrent: 4 },
  apiHosts: ['api.stripe.com'],

  targetsOf({ action, providerRef, objectIds: [objectId] }) {
    if (action === 'refund' && providerRef !== null) return [{ type: 'refund', id: providerRef }]
    const id = objectId ?? providerRef
    if (id === null) return []
    if (action === 'refund') return [{ type: 'refunds_of_payment', id }]
    return [{ type: id.startsWith('sub_sched_') ? 'subscription_schedule' : 'subscription', id }]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? 'https://api.stripe.com', '/v1')
    return openReader(
      { dialect: DIALECT, limits: readBack.limits, base, ask, changes: [refunds, events], schedules: [schedules] },
      options,
    )
  },
}

async function ask(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<Found> {
  switch (type) {
    case 'refund': {
      const answer = await readOne(client, type, '/refunds', id, budget)
      return answer.kind === 'object' ? { kind: 'found', objects: [asRefund(answer.object)] } : answer
    }
    case 'subscription':
      return askSubscription(client, id, budget)
    case 'subscription_schedule': {
      const answer = await readOne(client, type, '/subscription_schedules', id, budget)
      if (answer.kind !== 'object') return answer
      const managed = firstId(answer.object.subscription, answer.object.released_subscription)
      return managed === null ? { kind: 'missing' } : askSubscription(client, managed, budget)
    }
    case 'refunds_of_payment': {
      const query = { [id.startsWith('pi_') ? 'payment_intent' : 'charge']: id, limit: PAGE_SIZE }
      const answer = await readWhole(client, { type: 'refund', path: '/refunds', query }, budget)
      return answer.kind === 'objects'
        ? { kind: 'found', objects: [...answer.objects.map(asRefund), ...answer.unusable] }
        : answer
    }
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

/** A subscription with the schedule that manages it: the subscription does not show an end that the schedule sets. */
async function askSubscription(client: ApiClient, id: string, budget: Budget): Promise<Found> {
  const answer = await readOne(client, 'subscription', '/subscriptions', id, budget)
  return answer.kind === 'object' ? withSchedule(client, answer.object, budget) : answer
}

/**
 * An older read key may lack the right to read schedules. Then the subscription is read alone, and an end that a schedule sets
 * shows only when it takes effect.
 */
async function withSchedule(client: ApiClient, subscription: ProviderObject, budget: Budget): Promise<Found> {
  const found: ReadObject = { type: 'subscription', body: subscription }
  const scheduleId = firstId(subscription.schedule)
  if (scheduleId === null) return { kind: 'found', objects: [found] }
  const answer = await readOne(client, 'subscription_schedule', '/subscription_schedules', scheduleId, budget)
  switch (answer.kind) {
    case 'object':
      return { kind: 'found', objects: [found, { type: 'subscription_schedule', body: answer.object }] }
    case 'missing':
      return { kind: 'missing', objects: [found] }
    case 'failed':
      return answer.failure === 'key_refused' ? { kind: 'found', objects: [found] } : answer
    default:
      return answer satisfies never
  }
}

function asRefund(body: ProviderObject): ReadObject {
  return { type: 'refund', body }
}

/** Every refund, whether or not the account sends events about it. */
function refunds(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
    name: 'refunds',
    list: from => ({ type: 'refund', path: '/refunds', query: { 'created[gte]': seconds(from), limit: PAGE_SIZE } }),
    objects: async items => items.map(asRefund),
  })
}

/** Changes of older refunds, subscriptions and disputes, from their events: no list of these can be filtered by changes. */
function events(client: ApiClient, budget: Budget): Feed {
  const types = Object.fromEntries(EVENT_TYPES.map((type, index) => [`types[${index}]`, type]))
  return feedOf(client, budget, {
    name: 'events',
    list: from => ({
      type: 'event',
      path: '/events',
      query: { 'created[gte]': seconds(from), limit: EVENTS_PAGE_SIZE, ...types },
    }),
    eventOf({ id, type, created }) {
      const isEvent = typeof type === 'string' && typeof created === 'number'
      return isEvent ? { eventId: id, eventType: type, createdAt: created * 1000 } : undefined
    },
    objects: (items, from) => objectsOfEvents(client, items, from, budget),
  })
}

/**
 * A subscription has no version, so it is read again: the copy in the event would count as its present state. For other objects
 * the copy suffices, because their states have an order. The whole event of a schedule is used, because its time and its
 * request say when and by whom the end was set, and the schedule does not.
 */
async function objectsOfEvents(
  client: ApiClient,
  items: readonly ProviderObject[],
  from: number,
  budget: Budget,
): Promise<readonly ReadObject[] | Failed> {
  const objects: ReadObject[] = []
  const subscriptions = new Map<string, ProviderObject>()
  for (const event of items) {
    const object = fieldAt(event, 'data', 'object')
    const type = fieldAt(object, 'object')
    if (!isTold(event, type, object, from)) continue
    if (!isProviderObject(object)) objects.push(unusableItem(type, object, NO_USABLE_ID))
    else if (type === 'subscription') subscriptions.set(object.id, object)
    else if (type === 'subscription_schedule') objects.push({ type: 'event', body: event })
    else objects.push({ type, body: object })
  }
  const read = await Promise.all(
    [...subscriptions].map(async ([id, object]) => ({ object, answer: await askSubscription(client, id, budget) })),
  )
  for (const { object, answer } of read) {
    const found = objectsOf(answer, object)
    if (found === null) return answer as Failed
    objects.push(...found)
  }
  return objects
}

/**
 * The result of reading one subscription of a page; null for a failure of the whole page. An unusable answer about one does not
 * affect the others.
 */
function objectsOf(answer: Found, subscription: ProviderObject): readonly ReadObject[] | null {
  if (answer.kind !== 'failed') return answer.objects ?? []
  if (answer.failure !== 'answer_malformed' && answer.failure !== 'question_refused') return null
  return [unusableItem('subscription', subscription, answer.text)]
}

/** Whether the object of an event is reported. */
function isTold(event: ProviderObject, type: unknown, object: unknown, from: number): type is string {
  switch (type) {
    case 'subscription':
      return mayTell(event)
    case 'dispute':
    case 'subscription_schedule':
      return true
    case 'refund': {
      // Newer refunds are in the list of refunds.
      const created = fieldAt(object, 'created')
      return typeof created === 'number' && created < seconds(from)
    }
    default:
      return false
  }
}

function mayTell(event: ProviderObject): boolean {
  const previous = fieldAt(event, 'data', 'previous_attributes')
  if (event.type !== 'customer.subscription.updated' || typeof previous !== 'object' || previous === null) return true
  return TELLING_FIELDS.some(field => Object.hasOwn(previous, field))
}

/** The API has no filter for scheduled ends, so every subscription that has not ended is read. */
function schedules(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
    name: 'subscriptions',
    list: () => ({ type: 'subscription', path: '/subscriptions', query: { limit: BASELINE_PAGE_SIZE } }),
    objects: items => whatIsSet(client, items, budget),
  })
}

/** The subscriptions with a scheduled end or pause, their own or that of their schedule. */
async function whatIsSet(
  client: ApiClient,
  items: readonly ProviderObject[],
  budget: Budget,
): Promise<readonly ReadObject[] | Failed> {
  const read = await Promise.all(
    items.filter(maySet).map(async item => ({ item, answer: await withSchedule(client, item, budget) })),
  )
  const objects: ReadObject[] = []
  for (const { item, answer } of read) {
    const found = objectsOf(answer, item)
    if (found === null) return answer as Failed
    const isSet = found.some(({ type, body }) => (type === 'subscription' ? setsByItself(body) : endsLater(body)))
    if (isSet || answer.kind === 'failed') objects.push(...found)
  }
  return objects
}

function maySet(subscription: ProviderObject): boolean {
  return setsByItself(subscription) || firstId(subscription.schedule) !== null
}

function setsByItself({ cancel_at, cancel_at_period_end, pause_collection, status }: ReadObject['body']): boolean {
  return cancel_at_period_end === true || cancel_at != null || pause_collection != null || status === 'paused'
}

function endsLater({ end_behavior }: ReadObject['body']): boolean {
  return end_behavior === 'cancel'
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
