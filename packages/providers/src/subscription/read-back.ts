/**
 * The subscription biller's API (compatible with Chargebee's v2): a key as the user of basic authentication, lists cut by an
 * opaque `next_offset`, objects wrapped in the name of their type (guides: providers.md §3.4; parameters as in the types of
 * chargebee 3.33.0).
 */
import { isProviderId, type ReadObject, type ReadTarget } from '@backstop/contracts'
import { fieldAt } from '../event-fields.ts'
import type { ApiClient, ApiDialect, Budget, Query } from '../http/api-client.ts'
import { baseUrl } from '../http/base-url.ts'
import { failed } from '../http/failure.ts'
import { feedOf } from '../http/feeds.ts'
import { isDotSegment, type ProviderObject, readOne, readWhole } from '../http/objects.ts'
import type { Found } from '../http/read-targets.ts'
import { openReader } from '../http/reader.ts'
import type { Feed } from '../http/walk.ts'
import type { ReadBack } from '../read-back.ts'

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

/** The events that tell of refunds, credits, ends and pauses. */
const EVENT_TYPES = [
  'credit_note_created',
  'payment_refunded',
  'refund_initiated',
  'subscription_cancellation_scheduled',
  'subscription_cancelled',
  'subscription_scheduled_cancellation_removed',
  'subscription_paused',
  'subscription_pause_scheduled',
  'subscription_resumed',
  'subscription_scheduled_pause_removed',
  'subscription_changed',
]

const PAGE_SIZE = 100
/** Smaller, because one may have hundreds of lines. */
const LARGE_OBJECTS_PAGE_SIZE = 50
/** Everything that can still end or pause. */
const UNENDED = ['future', 'in_trial', 'active', 'non_renewing', 'paused']

/** How the subscription biller's data is read. */
export const readBack: ReadBack = {
  // 150 a minute are allowed to a test site and the smallest plan, whatever asks (guides: providers.md §3.4).
  limits: { requestsPerMinute: 110, concurrent: 2 },
  // Each site has a host of its own.
  apiHosts: ['*.chargebee.com'],

  targetsOf({ action, providerRef, objectIds: [objectId] }) {
    if (action === 'cancellation') {
      const id = objectId ?? providerRef
      return id === null ? [] : [{ type: 'subscription', id }]
    }
    if (providerRef !== null) {
      // Whoever refunds a credit note is given both ids and may have noted either.
      const transaction = { type: 'transaction', id: providerRef } as const
      return isTransactionId(providerRef) ? [transaction] : [transaction, { type: 'credit_note', id: providerRef }]
    }
    if (objectId === undefined) return []
    return [{ type: isTransactionId(objectId) ? 'transaction' : 'refunds_of_subscription', id: objectId }]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? `https://${options.site ?? ''}.chargebee.com`, '/api/v2')
    const changes = [refunds, creditNotes, subscriptions, events]
    return openReader(
      { dialect: DIALECT, limits: readBack.limits, base, ask, changes, schedules: [schedules] },
      options,
    )
  },
}

/** What the biller makes by itself; a site can be told to take other ids from outside, so it proves nothing. */
function isTransactionId(id: string): boolean {
  return id.startsWith('txn_')
}

async function ask(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<Found> {
  switch (type) {
    case 'subscription':
    case 'transaction':
    case 'credit_note': {
      const answer = await readById(client, type, id, budget)
      if (answer.kind !== 'object') return answer
      const found = { type, body: answer.object }
      return type === 'subscription' ? { kind: 'found', objects: [found] } : withLinkedRefunds(client, [found], budget)
    }
    case 'refunds_of_subscription': {
      const query = { 'type[is]': 'refund', 'subscription_id[is]': id, limit: PAGE_SIZE }
      const answer = await readWhole(client, { type: 'transaction', path: '/transactions', query }, budget)
      if (answer.kind === 'missing') return refundsOfInvoice(client, id, budget)
      return answer.kind === 'objects'
        ? { kind: 'found', objects: [...answer.objects.map(asTransaction), ...answer.unusable] }
        : answer
    }
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

/** Merchants choose ids here, so one may be `..`, which no path can hold: a list of one has that object. */
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

/** What was sold once belongs to no subscription, and goes by its invoice: the credit notes for that name the refunds. */
async function refundsOfInvoice(client: ApiClient, id: string, budget: Budget): Promise<Found> {
  const query = { 'reference_invoice_id[is]': id, limit: LARGE_OBJECTS_PAGE_SIZE }
  const answer = await readWhole(client, { type: 'credit_note', path: '/credit_notes', query }, budget)
  if (answer.kind !== 'objects') return answer
  return withLinkedRefunds(client, [...answer.objects.map(asCreditNote), ...answer.unusable], budget)
}

/** A credit note and a payment name the refunds made of them; what these are, only they tell. */
async function withLinkedRefunds(client: ApiClient, found: readonly ReadObject[], budget: Budget): Promise<Found> {
  const linked = found.map(({ body }) => fieldAt(body, 'linked_refunds')).filter(Array.isArray)
  const ids = linked.flat().map(refund => fieldAt(refund, 'txn_id'))
  const answers = await Promise.all(
    [...new Set(ids.filter(isProviderId))].map(id => readById(client, 'transaction', id, budget)),
  )
  const objects = [...found]
  for (const answer of answers) {
    if (answer.kind === 'failed') return answer
    if (answer.kind === 'object') objects.push(asTransaction(answer.object))
  }
  return { kind: answers.some(answer => answer.kind === 'missing') ? 'missing' : 'found', objects }
}

function asCreditNote(body: ProviderObject): ReadObject {
  return { type: 'credit_note', body }
}

function asTransaction(body: ProviderObject): ReadObject {
  return { type: 'transaction', body }
}

/** Refunds that were made or changed, and payments that a bank took back. */
function refunds(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
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
    objects: async items => items.map(asTransaction),
  })
}

/** Credit notes that were made or changed. They can be sorted by their date alone. */
function creditNotes(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
    name: 'credit_notes',
    list: from => ({
      type: 'credit_note',
      path: '/credit_notes',
      query: { ...changedSince(from, LARGE_OBJECTS_PAGE_SIZE), 'sort_by[desc]': 'date' },
    }),
    objects: async items => items.map(asCreditNote),
  })
}

/** Subscriptions that changed in any way: which way, their state tells. */
function subscriptions(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
    name: 'subscriptions',
    list: from => ({
      type: 'subscription',
      path: '/subscriptions',
      query: { ...changedSince(from, LARGE_OBJECTS_PAGE_SIZE), 'sort_by[desc]': 'updated_at' },
    }),
    objects: async items => items.map(asSubscription),
  })
}

/** Nothing of an event is taken but that it exists: the lists before it have the objects as they are. */
function events(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
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
    objects: async () => [],
  })
}

/** Not every end that is set for later shows in the status, and a pause does not: all that can still end are gone through. */
function schedules(client: ApiClient, budget: Budget): Feed {
  return feedOf(client, budget, {
    name: 'unended_subscriptions',
    list: () => ({
      type: 'subscription',
      path: '/subscriptions',
      query: { 'status[in]': JSON.stringify(UNENDED), 'sort_by[desc]': 'created_at', limit: LARGE_OBJECTS_PAGE_SIZE },
    }),
    objects: async items => items.filter(hasSchedule).map(asSubscription),
  })
}

function hasSchedule({ status, cancelled_at, pause_date }: ProviderObject): boolean {
  return status === 'non_renewing' || status === 'paused' || cancelled_at != null || pause_date != null
}

function asSubscription(body: ProviderObject): ReadObject {
  return { type: 'subscription', body }
}

/** What changed, deleted things too. `after` leaves out the second that it names. */
function changedSince(from: number, limit: number): Query {
  return { 'updated_at[after]': seconds(from) - 1, include_deleted: 'true', limit }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
