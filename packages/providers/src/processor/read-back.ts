/**
 * The card processor's API (compatible with Stripe's v1): a key as bearer token, lists newest first with `starting_after`
 * and `has_more`. Parameters as in the types of stripe 23.1.0.
 */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { ApiClient, ApiDialect, Budget, Query } from '../api/api-client.ts'
import { baseUrl } from '../api/base-url.ts'
import { type Failed, failed } from '../api/failure.ts'
import type { FeedList, FeedRead } from '../api/feeds.ts'
import {
  asType,
  isProviderObject,
  lastIdIn,
  NO_USABLE_ID,
  type ProviderObject,
  readOne,
  readWhole,
  unusableItem,
} from '../api/objects.ts'
import { foundAll, foundOne, type TargetResult } from '../api/read-targets.ts'
import { openReader } from '../api/reader.ts'
import { fieldAt, firstId } from '../event-fields.ts'
import type { ReadBack } from '../read-back.ts'
import { EVENTS } from './normalise.ts'
import { THIN_EVENTS } from './thin-event.ts'
import { USED_FIELDS } from './used-fields.ts'

/** The API version that `normaliseObject` supports. It is sent, because the default of an account may be years older. */
const API_VERSION = '2026-10-28.endive'

const DIALECT: ApiDialect = {
  name: 'The processor',
  headers: key => ({ authorization: `Bearer ${key.reveal()}`, 'stripe-version': API_VERSION }),
  codeOf: body => fieldAt(body, 'error', 'code') ?? fieldAt(body, 'error', 'type'),
  missingCodes: new Set(['resource_missing']),
  // Sent with status 429 when another request is changing the object.
  notNowCodes: new Set(['lock_timeout']),
  objectIn: body => body,
  pageQuery: page => ({ starting_after: page }),
  pageIn: ({ data, has_more: hasMore }) => ({
    items: data,
    next: hasMore === false ? null : hasMore === true ? lastIdIn(data) : undefined,
  }),
}

/** The event types that a sweep reads. The API accepts at most 20, and the others report nothing that these do not. */
const UNSWEPT = new Set([
  'subscription_schedule.expiring',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
])
const SWEPT_TYPES = Object.fromEntries(
  [...EVENTS.keys()].filter(type => !UNSWEPT.has(type)).map((type, index) => [`types[${index}]`, type]),
)
/** The fields of a subscription that decide whether it ends or pauses. Renewals and new items change none of them. */
const END_OR_PAUSE_FIELDS = [
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

/** The objects in a refund and in a subscription that are read with it. A path has at most four names. */
const EXPANDED_REFUND = { 'expand[0]': 'charge.customer' }
const EXPANDED_SUBSCRIPTION = {
  'expand[0]': 'customer',
  'expand[1]': 'latest_invoice',
  'expand[2]': 'items.data.price.product',
}

const PAGE_SIZE = 100
/** Events per page. Fewer than PAGE_SIZE, because each event may need a read of its subscription and schedule. */
const EVENTS_PAGE_SIZE = 50
/** Subscriptions per page of the baseline. Fewer than PAGE_SIZE, because each may need a read of its schedule. */
const BASELINE_PAGE_SIZE = 50

/** Reads the card processor's data. */
export const readBack: ReadBack = {
  // The limit is 25 a second for each endpoint, shared by everybody who uses the account (docs.stripe.com/rate-limits).
  limits: { requestsPerMinute: 1_000, concurrent: 4 },
  apiHosts: ['api.stripe.com'],
  // Secret keys have all rights; keys with fewer rights begin with rk_ (docs.stripe.com/keys).
  hasFullAccess: readKey => /^sk_(?:org_)?live_/.test(readKey),

  targetsOf({ action, providerRef, objectIds: [objectId] }) {
    if (action === 'refund' && providerRef !== null) return [{ type: 'refund', id: providerRef }]
    const id = objectId ?? providerRef
    if (id === null) return []
    if (action === 'refund') return [{ type: 'refunds_of_payment', id }]
    return [{ type: id.startsWith('sub_sched_') ? 'subscription_schedule' : 'subscription', id }]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? 'https://api.stripe.com', '/v1')
    const details = { ...THIN_EVENTS, base: base.replace(/\/v1$/, '/v2') }
    const parts = { dialect: DIALECT, limits: readBack.limits, base, readTarget, details, used: USED_FIELDS }
    return openReader({ ...parts, changes: [REFUNDS, CHANGES], schedules: [SUBSCRIPTIONS] }, options)
  },
}

/** Reads a target, as its connected account if it has one. */
async function readTarget(
  client: ApiClient,
  { account, ...target }: ReadTarget,
  budget: Budget,
): Promise<TargetResult> {
  if (account === undefined) return readOwn(client, target, budget)
  // The header that the processor's SDK sends with the context of a thin event. It supersedes `Stripe-Account` (docs.stripe.com/context).
  const answer = await readOwn(client, target, { ...budget, headers: { 'stripe-context': account } })
  // The account may have left the platform, or the key may lack the right to read it. Of other accounts that says nothing.
  if (answer.kind === 'failed' && answer.failure === 'key_refused') {
    return failed('question_refused', DIALECT.name, `the account ${account}`)
  }
  if (answer.kind === 'failed' || answer.objects === undefined) return answer
  return { ...answer, objects: answer.objects.map(object => ({ ...object, account })) }
}

async function readOwn(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<TargetResult> {
  switch (type) {
    case 'refund':
      return foundOne(type, await readExpanded(client, type, '/refunds', id, EXPANDED_REFUND, budget))
    case 'subscription':
      return readSubscription(client, id, budget)
    case 'subscription_schedule': {
      const answer = await readOne(client, type, '/subscription_schedules', id, budget)
      if (answer.kind !== 'object') return answer
      const managed = firstId(answer.object.subscription, answer.object.released_subscription)
      return managed === null ? { kind: 'missing' } : readSubscription(client, managed, budget)
    }
    case 'event':
      return foundOne(type, await readOne(client, type, '/core/events', id, budget))
    case 'refunds_of_payment': {
      const query = { [id.startsWith('pi_') ? 'payment_intent' : 'charge']: id, limit: PAGE_SIZE }
      return foundAll('refund', await readWhole(client, { type: 'refund', path: '/refunds', query }, budget))
    }
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

/**
 * Reads an object with other objects that it names, which have the customer and the numbers that people know. A read key without the
 * right to read those objects is refused. Then the object is read alone.
 */
async function readExpanded(
  client: ApiClient,
  type: string,
  path: string,
  id: string,
  expand: Query,
  budget: Budget,
): ReturnType<typeof readOne> {
  const answer = await readOne(client, type, path, id, budget, expand)
  const isRefused =
    answer.kind === 'failed' && (answer.failure === 'key_refused' || answer.failure === 'question_refused')
  return isRefused ? readOne(client, type, path, id, budget) : answer
}

/** Reads a subscription and its schedule, because the subscription does not show an end that the schedule sets. */
async function readSubscription(client: ApiClient, id: string, budget: Budget): Promise<TargetResult> {
  const answer = await readExpanded(client, 'subscription', '/subscriptions', id, EXPANDED_SUBSCRIPTION, budget)
  return answer.kind === 'object' ? withSchedule(client, answer.object, budget) : answer
}

/**
 * Adds the schedule of a subscription. An older read key may lack the right to read schedules. In that case only the subscription
 * is returned, and an end that a schedule sets is seen when it takes effect.
 */
async function withSchedule(client: ApiClient, subscription: ProviderObject, budget: Budget): Promise<TargetResult> {
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

/** The feed of all refunds, also of accounts that send no refund events. */
const REFUNDS: FeedList = {
  name: 'refunds',
  list: from => ({ type: 'refund', path: '/refunds', query: { 'created[gte]': seconds(from), limit: PAGE_SIZE } }),
  objects: items => items.map(asType('refund')),
}

/**
 * The feed of changes of older refunds, subscriptions and disputes. It reads events, because the API cannot filter objects by the
 * time of change.
 */
const CHANGES: FeedList = {
  name: 'events',
  list: from => ({
    type: 'event',
    path: '/events',
    query: { 'created[gte]': seconds(from), limit: EVENTS_PAGE_SIZE, ...SWEPT_TYPES },
  }),
  eventOf({ id, type, created }) {
    const isEvent = typeof type === 'string' && typeof created === 'number'
    return isEvent ? { eventId: id, eventType: type, createdAt: created * 1000 } : undefined
  },
  objects: objectsOfEvents,
}

/**
 * The objects of listed events. A subscription is read again, because it has no version and the copy in the event may be
 * outdated. For other objects the copy is used, because their states have an order. For a new refund and for a schedule the event
 * itself is returned, because only the event has the request, and the time of a scheduled end.
 */
async function objectsOfEvents(
  items: readonly ProviderObject[],
  { client, budget, from }: FeedRead,
): Promise<readonly ReadObject[] | Failed> {
  const objects: ReadObject[] = []
  const subscriptions = new Map<string, ProviderObject>()
  for (const event of items) {
    const object = fieldAt(event, 'data', 'object')
    const type = fieldAt(object, 'object')
    if (!isReported(event, type, object, from)) continue
    if (!isProviderObject(object)) objects.push(unusableItem(type, object, NO_USABLE_ID))
    else if (type === 'subscription') subscriptions.set(object.id, object)
    else if (type === 'subscription_schedule') objects.push({ type: 'event', body: event })
    else if (event.type === 'refund.created') objects.push({ type: 'event', body: event })
    else objects.push({ type, body: object })
  }
  const read = await Promise.all(
    [...subscriptions].map(async ([id, object]) => ({ object, answer: await readSubscription(client, id, budget) })),
  )
  for (const { object, answer } of read) {
    const found = objectsOrFault(answer, object)
    if (found === null) return answer as Failed
    objects.push(...found)
  }
  return objects
}

/**
 * The objects from the read of one subscription; null if the whole page fails. An unusable answer about one subscription does not
 * affect the rest of the page.
 */
function objectsOrFault(answer: TargetResult, subscription: ProviderObject): readonly ReadObject[] | null {
  if (answer.kind !== 'failed') return answer.objects ?? []
  if (answer.failure !== 'answer_malformed' && answer.failure !== 'question_refused') return null
  return [unusableItem('subscription', subscription, answer.text)]
}

/** True if the object of an event is reported. */
function isReported(event: ProviderObject, type: unknown, object: unknown, from: number): type is string {
  switch (type) {
    case 'subscription':
      return mayEndOrPause(event)
    case 'dispute':
    case 'subscription_schedule':
      return true
    case 'refund': {
      if (event.type === 'refund.created') return true
      // A refund that is newer than `from` is in the feed of refunds.
      const created = fieldAt(object, 'created')
      return typeof created === 'number' && created < seconds(from)
    }
    default:
      return false
  }
}

function mayEndOrPause(event: ProviderObject): boolean {
  const previous = fieldAt(event, 'data', 'previous_attributes')
  if (event.type !== 'customer.subscription.updated' || typeof previous !== 'object' || previous === null) return true
  return END_OR_PAUSE_FIELDS.some(field => Object.hasOwn(previous, field))
}

/**
 * The feed of scheduled ends and pauses. It reads every subscription that has not ended, because the API cannot filter by
 * scheduled ends.
 */
const SUBSCRIPTIONS: FeedList = {
  name: 'subscriptions',
  list: () => ({ type: 'subscription', path: '/subscriptions', query: { limit: BASELINE_PAGE_SIZE } }),
  objects: scheduledChanges,
}

/** The subscriptions of a page with a scheduled end or pause, by themselves or by their schedule. */
async function scheduledChanges(
  items: readonly ProviderObject[],
  { client, budget }: FeedRead,
): Promise<readonly ReadObject[] | Failed> {
  const read = await Promise.all(
    items
      .filter(mayHaveScheduledChange)
      .map(async item => ({ item, answer: await withSchedule(client, item, budget) })),
  )
  const objects: ReadObject[] = []
  for (const { item, answer } of read) {
    const found = objectsOrFault(answer, item)
    if (found === null) return answer as Failed
    const isSet = found.some(({ type, body }) =>
      type === 'subscription' ? hasOwnScheduledChange(body) : endsLater(body),
    )
    if (isSet || answer.kind === 'failed') objects.push(...found)
  }
  return objects
}

function mayHaveScheduledChange(subscription: ProviderObject): boolean {
  return hasOwnScheduledChange(subscription) || firstId(subscription.schedule) !== null
}

function hasOwnScheduledChange({
  cancel_at,
  cancel_at_period_end,
  pause_collection,
  status,
}: ReadObject['body']): boolean {
  return cancel_at_period_end === true || cancel_at != null || pause_collection != null || status === 'paused'
}

function endsLater({ end_behavior }: ReadObject['body']): boolean {
  return end_behavior === 'cancel'
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
