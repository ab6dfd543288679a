/**
 * The reseller's API (compatible with Paddle Billing): a key as bearer token, lists ordered by id with a link to the next
 * page. Only the position in that link is used, because the link could lead to any host. Parameters as in the types of
 * @paddle/paddle-node-sdk 3.10.0.
 */
import type { ReadObject, ReadTarget } from '@backstop/contracts'
import type { Secret } from '@backstop/kit/config'
import type { ApiClient, ApiDialect, Budget } from '../api/api-client.ts'
import { baseUrl } from '../api/base-url.ts'
import { failed } from '../api/failure.ts'
import type { FeedList } from '../api/feeds.ts'
import {
  asType,
  isProviderObject,
  NO_USABLE_ID,
  type ProviderObject,
  readOne,
  readPage,
  readWhole,
  unusableItem,
} from '../api/objects.ts'
import type { DetailParts } from '../api/read-details.ts'
import { foundAll, foundOne, type TargetResult } from '../api/read-targets.ts'
import { openReader } from '../api/reader.ts'
import { fieldAt } from '../event-fields.ts'
import type { ProviderReader, ReadBack, ReadResult, SweepPage } from '../read-back.ts'
import { EVENTS } from './normalise.ts'
import { USED_FIELDS } from './used-fields.ts'

const DIALECT: ApiDialect = {
  name: 'The reseller',
  headers: key => ({ authorization: `Bearer ${key.reveal()}`, 'paddle-version': '1' }),
  codeOf: body => fieldAt(body, 'error', 'code'),
  missingCodes: new Set(['not_found']),
  notNowCodes: new Set([
    'concurrent_modification',
    'conflict',
    'internal_error',
    'service_unavailable',
    'temporarily_unavailable',
    'bad_gateway',
  ]),
  objectIn: body => body.data,
  pageQuery: page => ({ after: page }),
  pageIn: ({ data, meta }) => ({ items: itemsIn(data), next: nextIn(meta) }),
}

/** The API's largest page of adjustments. It also keeps pages of larger objects below the size limit. */
const PAGE_SIZE = 50
/** Newest first, because ids sort by the time of creation. */
const NEWEST_FIRST = { order_by: 'id[DESC]', per_page: PAGE_SIZE }

/** Transactions have the customer and the number of the invoice, which adjustments and subscriptions do not have. */
const DETAILS: DetailParts = {
  requestsPerMinute: 30,
  isDetail: ({ type }) => type === 'transaction',
  addTo: addTransactions,
}

/** Reads the reseller's data. */
export const readBack: ReadBack = {
  // The API allows 240 requests a minute for one IP address, shared by all programs there (developer.paddle.com, rate limiting).
  // With the details these are 180.
  limits: { requestsPerMinute: 150, concurrent: 4 },
  apiHosts: ['api.paddle.com', 'sandbox-api.paddle.com'],

  targetsOf({ action, providerRef, objectIds: [objectId], details }) {
    const id = objectId ?? providerRef
    if (id === null) return []
    const payment: ReadTarget[] = details && objectId !== undefined ? [{ type: 'transaction', id: objectId }] : []
    if (action === 'cancellation') return [{ type: 'subscription', id }, ...payment]
    if (providerRef === null) return [{ type: 'adjustments_of_transaction', id }, ...payment]
    return [{ type: 'adjustment', id: providerRef }, ...payment]
  },

  open(options) {
    const base = baseUrl(options.apiBase ?? publicAddress(options.readKey))
    const parts = { dialect: DIALECT, limits: readBack.limits, base, readTarget, details: DETAILS, used: USED_FIELDS }
    const reader = openReader({ ...parts, changes: [ADJUSTMENTS, CHANGES], schedules: [SUBSCRIPTIONS] }, options)
    return withMode(reader, modeOf(options.readKey))
  },
}

/** The public address of the API. The prefix of a sandbox key differs from that of a live key. */
function publicAddress(readKey: Secret): string {
  return modeOf(readKey) === 'test' ? 'https://sandbox-api.paddle.com' : 'https://api.paddle.com'
}

/** The mode of a key by its prefix (developer.paddle.com, API keys). Null for an older key, which has no prefix. */
function modeOf(readKey: Secret): 'live' | 'test' | null {
  const key = readKey.reveal()
  return key.startsWith('pdl_sdbx_') ? 'test' : key.startsWith('pdl_live_') ? 'live' : null
}

/** A reader whose objects have the mode of its key, because the objects do not show it. */
function withMode(reader: ProviderReader, mode: 'live' | 'test' | null): ProviderReader {
  if (mode === null) return reader
  const marked = <Answer extends ReadResult | SweepPage>(answer: Answer): Answer =>
    'objects' in answer ? { ...answer, objects: answer.objects.map(object => ({ ...object, mode })) } : answer
  return {
    get health() {
      return reader.health
    },
    read: async (...asked) => marked(await reader.read(...asked)),
    changes: async (...asked) => marked(await reader.changes(...asked)),
    schedules: async (...asked) => marked(await reader.schedules(...asked)),
  }
}

async function readTarget(client: ApiClient, { type, id }: ReadTarget, budget: Budget): Promise<TargetResult> {
  switch (type) {
    case 'subscription':
      return foundOne(type, await readOne(client, type, '/subscriptions', id, budget))
    case 'adjustment':
    case 'adjustments_of_transaction': {
      // The API returns a single adjustment only as a list with a filter.
      const filter = type === 'adjustment' ? 'id' : isSubscriptionId(id) ? 'subscription_id' : 'transaction_id'
      const query = { [filter]: id, per_page: PAGE_SIZE }
      const answer = await readWhole(client, { type: 'adjustment', path: '/adjustments', query }, budget)
      const isOther = answer.kind === 'objects' && answer.objects.some(object => object[filter] !== id)
      return isOther
        ? failed('answer_malformed', DIALECT.name, 'not the adjustments that were asked for')
        : foundAll('adjustment', answer)
    }
    case 'transaction':
      return readTransaction(client, id, budget)
    default:
      return failed('question_refused', DIALECT.name, `it has no ${type}`)
  }
}

/**
 * Reads a transaction, or the newest of a subscription, with its customer (developer.paddle.com, API reference: "Get a
 * transaction", "List transactions").
 */
async function readTransaction(client: ApiClient, id: string, budget: Budget): Promise<TargetResult> {
  const type = 'transaction'
  if (!isSubscriptionId(id)) {
    return foundOne(type, await readOne(client, type, '/transactions', id, budget, { include: 'customer' }))
  }
  const query = { subscription_id: id, include: 'customer', order_by: 'id[DESC]', per_page: 1 }
  const answer = await readPage(client, { type, path: '/transactions', query }, null, budget)
  return answer.kind === 'page' ? { kind: 'found', objects: answer.items.slice(0, 1).map(asType(type)) } : answer
}

/** Adds each transaction to its adjustments and to its subscription. */
function addTransactions(objects: readonly ReadObject[], transactions: readonly ReadObject[]): readonly ReadObject[] {
  return objects.map(object => {
    const { id, transaction_id } = object.body
    const own = transactions.find(({ body }) =>
      object.type === 'subscription' ? body.subscription_id === id : body.id === transaction_id,
    )
    return own === undefined || object.fault !== undefined
      ? object
      : { ...object, body: { ...object.body, transaction: own.body } }
  })
}

function isSubscriptionId(id: string): boolean {
  return id.startsWith('sub_')
}

/** The items of a list with their id in the field `id`. In events the id has another field name. */
function itemsIn(data: unknown): unknown {
  return Array.isArray(data)
    ? data.map(item => {
        const eventId = fieldAt(item, 'event_id')
        return eventId === undefined ? item : { ...item, id: eventId }
      })
    : undefined
}

/** The position of the next page. Only has_more shows whether it exists, because the last page has a link too. */
function nextIn(meta: unknown): string | null | undefined {
  const hasMore = fieldAt(meta, 'pagination', 'has_more')
  if (hasMore === false) return null
  const link = fieldAt(meta, 'pagination', 'next')
  if (hasMore !== true || typeof link !== 'string' || !URL.canParse(link)) return undefined
  return new URL(link).searchParams.get('after') ?? undefined
}

/** The feed of all adjustments. */
const ADJUSTMENTS: FeedList = {
  name: 'adjustments',
  list: () => ({ type: 'adjustment', path: '/adjustments', query: NEWEST_FIRST }),
  timeOf: ({ created_at }) => timeOf(created_at),
  objects: items => items.map(asType('adjustment')),
}

/**
 * The feed of changes of older adjustments and of subscriptions. It uses the copy in their events, because the objects have the
 * time of their change.
 */
const CHANGES: FeedList = {
  name: 'events',
  list: () => ({
    type: 'event',
    path: '/events',
    query: { ...NEWEST_FIRST, event_type: [...EVENTS.keys()].join(',') },
  }),
  timeOf: ({ occurred_at }) => timeOf(occurred_at),
  eventOf({ id, event_type, occurred_at }) {
    return typeof event_type === 'string'
      ? { eventId: id, eventType: event_type, createdAt: timeOf(occurred_at) }
      : undefined
  },
  objects: items => items.flatMap(objectOfEvent),
}

function objectOfEvent({ event_type, data }: ProviderObject): ReadObject[] {
  const type = String(event_type).split('.')[0] ?? ''
  if (type !== 'adjustment' && type !== 'subscription') return []
  return [isProviderObject(data) ? { type, body: data } : unusableItem(type, data, NO_USABLE_ID)]
}

const SUBSCRIPTIONS: FeedList = {
  name: 'subscriptions',
  list: () => ({
    type: 'subscription',
    path: '/subscriptions',
    query: { ...NEWEST_FIRST, scheduled_change_action: 'cancel,pause' },
  }),
  objects: items => items.map(asType('subscription')),
}

function timeOf(rfc3339: unknown): number {
  return typeof rfc3339 === 'string' ? Date.parse(rfc3339) : Number.NaN
}
