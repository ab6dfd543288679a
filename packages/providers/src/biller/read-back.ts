/**
 * The subscription biller's API (compatible with Chargebee's v2): a key as the user of basic authentication, lists paged by an
 * opaque `next_offset`, objects wrapped in the name of their type. Parameters as in the types of chargebee 3.33.0.
 */
import { isProviderId, type ReadObject, type ReadTarget } from '@backstop/contracts'
import type { ApiClient, ApiDialect, Budget, Query } from '../api/api-client.ts'
import { baseUrl } from '../api/base-url.ts'
import { failed } from '../api/failure.ts'
import type { FeedList } from '../api/feeds.ts'
import { asType, isDotSegment, type ProviderObject, readOne, readWhole } from '../api/objects.ts'
import type { DetailParts } from '../api/read-details.ts'
import { foundAll, foundOne, type TargetResult } from '../api/read-targets.ts'
import { openReader } from '../api/reader.ts'
import { fieldAt } from '../event-fields.ts'
import type { ReadBack } from '../read-back.ts'
import { isCreation } from './normalise.ts'
import { USED_FIELDS } from './used-fields.ts'

const DIALECT: ApiDialect = {
  name: 'The subscription biller',
  headers: key => ({ authorization: `Basic ${Buffer.from(`${key.reveal()}:`).toString('base64')}` }),
  codeOf: body => fieldAt(body, 'api_error_code'),
  missingCodes: new Set(['resource_not_found']),
  notNowCodes: new Set([
    'lock_timeout',
    'internal_error',
    'internal_temporary_error',
    'site_read_only_mode',
    'site_not_ready',
    'db_connection_failure',
  ]),
  objectIn: (body, type) => body[type],
  pageQuery: page => ({ offset: page }),
  pageIn: ({ list, next_offset: next }, type) => ({
    items: Array.isArray(list) ? list.map(item => fieldAt(item, type) ?? item) : undefined,
    next: next ?? null,
  }),
}

/** The types of events about refunds, credits, ends and pauses. A sweep lists them all, whether or not they were sent. */
const EVENT_TYPES = [
  'credit_note_created',
  'payment_refunded',
  'refund_initiated',
  'subscription_cancellation_scheduled',
  'subscription_cancelled',
  // The provider spells this type with one l.
  'subscription_canceled_with_backdating',
  'subscription_deleted',
  'subscription_scheduled_cancellation_removed',
  'subscription_paused',
  'subscription_pause_scheduled',
  'subscription_resumed',
  'subscription_scheduled_pause_removed',
  'subscription_changed',
]

const PAGE_SIZE = 100
/** Objects per page for objects that may have hundreds of lines. */
const LARGE_OBJECTS_PAGE_SIZE = 50
/** Events say by whom an object was made. Without its event the object is used all the same. */
const DETAILS: DetailParts = {
  requestsPerMinute: 25,
  isDetail: ({ type }) => type === 'event',
  addTo: (objects, events) => [...objects, ...events],
}
/** The statuses of subscriptions that can still end or pause. */
const UNENDED = ['future', 'in_trial', 'active', 'non_renewing', 'paused']

/** Reads the subscription biller's data. */
export const readBack: ReadBack = {
  // A test site and the smallest plan allow 150 requests a minute, shared by all programs that use the site. With the details
  // these are 110.
  limits: { requestsPerMinute: 85, concurrent: 2 },
  // Each site has its own host.
  apiHosts: ['*.chargebee.com'],

  targetsOf({ action, providerRef, objectIds: [objectId] }) {
    if (action === 'cancellation') {
      const id = objectId ?? providerRef
      return id === null ? [] : [{ type: 'subscription', id }]
    }
    if (providerRef !== null) {
      // An operation may name the transaction or the credit note, because the answer to a refund has both ids.
      const transaction = { type: 'transaction', id: providerRef } as const
      return isTransactionId(providerRef) ? [transaction] : [transaction, { type: 'credit_note', id: providerRef }]
    }
    if (objectId === undefined) return []
    return [{ type: isTransactionId(objectId) ? 'transaction' : 'refunds_of_subscription', id: objectId }]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? `https://${options.site ?? ''}.chargebee.com`, '/api/v2')
    const parts = { dialect: DIALECT, limits: readBack.limits, base, readTarget, details: DETAILS, used: USED_FIELDS }
    const changes = [REFUNDS, CREDIT_NOTES, SUBSCRIPTIONS, SENT_EVENTS]
    return openReader({ ...parts, changes, schedules: [UNENDED_SUBSCRIPTIONS] }, options)
  },
}

/**
 * True if an id has the form of a generated transaction id. Other ids may be transactions too, because a site may accept them.
 */
function isTransactionId(id: string): boolean {
  return id.startsWith('txn_')
}

async function readTarget(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<TargetResult> {
  switch (type) {
    case 'subscription':
    case 'transaction':
    case 'credit_note': {
      const answer = await readById(client, type, id, budget)
      if (answer.kind !== 'object') return answer
      const found = { type, body: answer.object }
      return type === 'subscription' ? { kind: 'found', objects: [found] } : withLinkedRefunds(client, [found], budget)
    }
    case 'event':
      return foundOne(type, await readOne(client, type, '/events', id, budget))
    case 'refunds_of_subscription': {
      const query = { 'type[is]': 'refund', 'subscription_id[is]': id, limit: PAGE_SIZE }
      const answer = await readWhole(client, { type: 'transaction', path: '/transactions', query }, budget)
      return answer.kind === 'missing' ? refundsOfInvoice(client, id, budget) : foundAll('transaction', answer)
    }
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

/**
 * Reads one object. Merchants choose ids, so an id may be `..`, which cannot be in a path. The object is then read by a list with
 * a filter.
 */
async function readById(client: ApiClient, type: string, id: string, budget: Budget) {
  if (!isDotSegment(id)) return readOne(client, type, `/${type}s`, id, budget)
  const query = { 'id[is]': id, include_deleted: 'true', limit: 1 }
  const answer = await readWhole(client, { type, path: `/${type}s`, query }, budget)
  if (answer.kind !== 'objects') return answer
  const object = answer.objects.find(one => one.id === id)
  return object === undefined
    ? failed('answer_malformed', DIALECT.name, `not the ${type} that was asked for`)
    : { kind: 'object' as const, object }
}

/** Reads the refunds of an invoice. A one-time sale has no subscription, so they are found by the credit notes of its invoice. */
async function refundsOfInvoice(client: ApiClient, id: string, budget: Budget): Promise<TargetResult> {
  const query = { 'reference_invoice_id[is]': id, limit: LARGE_OBJECTS_PAGE_SIZE }
  const answer = await readWhole(client, { type: 'credit_note', path: '/credit_notes', query }, budget)
  if (answer.kind !== 'objects') return answer
  return withLinkedRefunds(client, [...answer.objects.map(asType('credit_note')), ...answer.unusable], budget)
}

/**
 * Adds the refunds that credit notes and payments name. They are read too, because credit notes have only some of their fields.
 */
async function withLinkedRefunds(
  client: ApiClient,
  found: readonly ReadObject[],
  budget: Budget,
): Promise<TargetResult> {
  const linked = found.map(({ body }) => fieldAt(body, 'linked_refunds')).filter(Array.isArray)
  const ids = linked.flat().map(refund => fieldAt(refund, 'txn_id'))
  const answers = await Promise.all(
    [...new Set(ids.filter(isProviderId))].map(id => readById(client, 'transaction', id, budget)),
  )
  const objects = [...found]
  for (const answer of answers) {
    if (answer.kind === 'failed') return answer
    if (answer.kind === 'object') objects.push({ type: 'transaction', body: answer.object })
  }
  return { kind: answers.some(answer => answer.kind === 'missing') ? 'missing' : 'found', objects }
}

/** The feed of new and changed refunds and chargebacks. */
const REFUNDS: FeedList = {
  name: 'refunds',
  list: from => ({
    type: 'transaction',
    path: '/transactions',
    query: {
      ...changedSince(from, PAGE_SIZE),
      'type[in]': '["refund","payment_reversal"]',
      'sort_by[desc]': 'updated_at',
    },
  }),
  objects: items => items.map(asType('transaction')),
}

/** The feed of new and changed credit notes. The API can sort credit notes only by date. */
const CREDIT_NOTES: FeedList = {
  name: 'credit_notes',
  list: from => ({
    type: 'credit_note',
    path: '/credit_notes',
    query: { ...changedSince(from, LARGE_OBJECTS_PAGE_SIZE), 'sort_by[desc]': 'date' },
  }),
  objects: items => items.map(asType('credit_note')),
}

/** The feed of changed subscriptions. */
const SUBSCRIPTIONS: FeedList = {
  name: 'subscriptions',
  list: from => ({
    type: 'subscription',
    path: '/subscriptions',
    query: { ...changedSince(from, LARGE_OBJECTS_PAGE_SIZE), 'sort_by[desc]': 'updated_at' },
  }),
  objects: items => items.map(asType('subscription')),
}

/**
 * The feed of events. It shows which events exist, and returns those that say by whom a refund or an end was made. The other feeds
 * have the present objects.
 */
const SENT_EVENTS: FeedList = {
  name: 'events',
  list: from => ({
    type: 'event',
    path: '/events',
    query: {
      'occurred_at[after]': seconds(from) - 1,
      'event_type[in]': JSON.stringify(EVENT_TYPES),
      'sort_by[desc]': 'occurred_at',
      limit: LARGE_OBJECTS_PAGE_SIZE,
    },
  }),
  eventOf({ id, event_type, occurred_at }) {
    const isEvent = typeof event_type === 'string' && typeof occurred_at === 'number'
    return isEvent ? { eventId: id, eventType: event_type, createdAt: occurred_at * 1000 } : undefined
  },
  objects: items => items.filter(({ event_type }) => isCreation(event_type)).map(asType('event')),
}

/**
 * The feed of scheduled ends and pauses. It reads every subscription that can still end, because the status does not show all of
 * them.
 */
const UNENDED_SUBSCRIPTIONS: FeedList = {
  name: 'unended_subscriptions',
  list: () => ({
    type: 'subscription',
    path: '/subscriptions',
    query: { 'status[in]': JSON.stringify(UNENDED), 'sort_by[desc]': 'created_at', limit: LARGE_OBJECTS_PAGE_SIZE },
  }),
  objects: items => items.filter(hasSchedule).map(asType('subscription')),
}

function hasSchedule({ status, cancelled_at, pause_date }: ProviderObject): boolean {
  return status === 'non_renewing' || status === 'paused' || cancelled_at != null || pause_date != null
}

/** The query for objects that changed since a time, with deleted objects. `after` excludes the given second. */
function changedSince(from: number, limit: number): Query {
  return { 'updated_at[after]': seconds(from) - 1, include_deleted: 'true', limit }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
