/** The answers of the reseller's API by path, without HTTP. */
import type { ApiCall } from '../../api/provider-api.ts'
import type { Reseller, ResellerRecords } from '../account.ts'
import type { ResellerTransaction } from '../objects/transaction.ts'
import { invalidField, notFound, ResellerRefusal } from '../refusal.ts'
import { type PageRules, pageOf } from './page.ts'
import { answerWrite } from './writes.ts'

const PAGING = ['after', 'per_page', 'order_by']
const ADJUSTMENTS: PageRules = { perPage: 10, maxPerPage: 50, order: 'DESC' }
const SUBSCRIPTIONS: PageRules = { perPage: 50, maxPerPage: 200, order: 'DESC' }
const TRANSACTIONS: PageRules = { perPage: 30, maxPerPage: 30, order: 'DESC' }
/** The parts that `include` adds to a transaction. */
const INCLUDED: ReadonlySet<string> = new Set(['adjustment', 'adjustments', 'customer'])
const EVENTS: PageRules = { perPage: 50, maxPerPage: 200, order: 'ASC' }

/**
 * Answers one call with the objects that can be read.
 * @throws ResellerRefusal if the API refuses the request
 */
export function answerCall(reseller: Reseller, call: ApiCall): object {
  const path = call.path.split('/').slice(1)
  const body = call.method === 'GET' ? read(reseller, path, call) : answerWrite(reseller, path, call)
  // The API has no path GET /adjustments/{id}.
  if (body === undefined) throw new ResellerRefusal(404, 'shared/invalid_url', 'Invalid URL.')
  return body
}

function read(reseller: Reseller, [resource, id, ...rest]: readonly string[], call: ApiCall): object | undefined {
  if (resource === undefined || rest.length > 0) return undefined
  const records = reseller.asOf(call.readAtMs)
  return id === undefined ? list(records, resource, call) : retrieve(records, resource, id, call)
}

function list(records: ResellerRecords, resource: string, call: ApiCall): object | undefined {
  const { query } = call
  switch (resource) {
    case 'adjustments': {
      const filters = ['id', 'action', 'status', 'transaction_id', 'subscription_id', 'customer_id']
      return pageOf(matching(records.adjustments.all(), query, filters), idOf, call, ADJUSTMENTS)
    }
    case 'subscriptions': {
      const filters = ['id', 'status', 'customer_id', 'address_id', 'collection_mode']
      const actions = query.get('scheduled_change_action')?.split(',')
      const found = matching(records.subscriptions.all(), query, filters, ['scheduled_change_action']).filter(
        ({ scheduled_change: scheduled }) =>
          actions === undefined || (scheduled != null && actions.includes(scheduled.action)),
      )
      return pageOf(found, idOf, call, SUBSCRIPTIONS)
    }
    case 'transactions': {
      const filters = ['id', 'status', 'customer_id', 'subscription_id', 'invoice_number', 'origin', 'collection_mode']
      const found = matching(records.transactions.all(), query, filters, ['include'])
      const page = pageOf(found, idOf, call, TRANSACTIONS)
      return { ...page, data: page.data.map(transaction => withIncluded(records, transaction, query)) }
    }
    case 'events': {
      const page = pageOf(matching(records.events(), query, ['event_type']), event => event.event_id, call, EVENTS)
      // Events in the API have no notification id.
      return { ...page, data: page.data.map(event => ({ ...event, notification_id: null })) }
    }
    default:
      return undefined
  }
}

function retrieve(records: ResellerRecords, resource: string, id: string, { query }: ApiCall): object | undefined {
  if (resource === 'subscriptions') return { data: found(records.subscriptions.get(id), id) }
  if (resource === 'transactions') {
    return { data: withIncluded(records, found(records.transactions.get(id), id), query) }
  }
  return undefined
}

const idOf = (item: { id: string }) => item.id

function found<T>(item: T | undefined, id: string): T {
  if (item === undefined) throw notFound(id)
  return item
}

function withIncluded(
  records: ResellerRecords,
  transaction: ResellerTransaction,
  query: URLSearchParams,
): ResellerTransaction {
  const include = query.get('include')?.split(',') ?? []
  for (const name of include) {
    if (!INCLUDED.has(name)) throw invalidField('include', `not supported by the simulator: ${name}`)
  }
  const adjustments = records.adjustments.all().filter(adjustment => adjustment.transaction_id === transaction.id)
  const customer = records.customers.get(transaction.customer_id ?? '') ?? null
  return {
    ...transaction,
    // The documentation says `adjustments`, and the official library sends `adjustment`.
    ...(include.includes('adjustment') || include.includes('adjustments') ? { adjustments } : {}),
    ...(include.includes('customer') ? { customer } : {}),
  }
}

/** The items that match every filter of the query. A filter is a comma-separated list of allowed values. */
function matching<T extends object>(
  items: readonly T[],
  query: URLSearchParams,
  filters: readonly string[],
  others: readonly string[] = [],
): T[] {
  for (const name of query.keys()) {
    if (![...PAGING, ...filters, ...others].includes(name)) throw invalidField(name, 'additional field is not allowed')
  }
  const wanted = filters.flatMap(name => {
    const value = query.get(name)
    return value === null ? [] : [{ name, values: value.split(',') }]
  })
  return items.filter(item => wanted.every(({ name, values }) => values.includes(String(Reflect.get(item, name)))))
}
