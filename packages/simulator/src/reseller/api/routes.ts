/** The answers of the reseller's API by path, without HTTP. */
import type { ApiCall } from '../../api/provider-api.ts'
import { type Resources, readResource } from '../../api/resources.ts'
import type { Reseller } from '../account.ts'
import type { ResellerRecords } from '../account-state.ts'
import type { ResellerTransaction } from '../objects/transaction.ts'
import { invalidField, ResellerRefusal } from '../refusal.ts'
import { type PageRules, pageOf } from './page.ts'
import { answerWrite } from './writes.ts'

const PAGING = ['after', 'per_page', 'order_by']
const ADJUSTMENTS: PageRules = { perPage: 10, maxPerPage: 50, order: 'DESC' }
const SUBSCRIPTIONS: PageRules = { perPage: 50, maxPerPage: 200, order: 'DESC' }
const TRANSACTIONS: PageRules = { perPage: 30, maxPerPage: 30, order: 'DESC' }
const EVENTS: PageRules = { perPage: 50, maxPerPage: 200, order: 'ASC' }
/** The parts that `include` adds to a transaction. */
const INCLUDED: ReadonlySet<string> = new Set(['adjustment', 'adjustments', 'customer'])

/** The API has no path GET /adjustments/{id}. */
const RESOURCES: Resources<ResellerRecords> = new Map([
  ['adjustments', { list: listAdjustments }],
  [
    'subscriptions',
    { list: listSubscriptions, get: ({ subscriptions }, id) => ({ data: subscriptions.existing(id) }) },
  ],
  ['transactions', { list: listTransactions, get: getTransaction }],
  ['events', { list: listEvents }],
])

/**
 * Answers one call with the objects that can be read.
 * @throws ResellerRefusal if the API refuses the request
 */
export function answerCall(reseller: Reseller, call: ApiCall): object {
  const path = call.path.split('/').slice(1)
  const body =
    call.method === 'GET'
      ? readResource(RESOURCES, reseller.asOf(call.readAtMs), path, call)
      : answerWrite(reseller, path, call)
  if (body === undefined) throw new ResellerRefusal(404, 'shared/invalid_url', 'Invalid URL.')
  return body
}

function listAdjustments({ adjustments }: ResellerRecords, call: ApiCall): object {
  const filters = ['id', 'action', 'status', 'transaction_id', 'subscription_id', 'customer_id']
  return pageOf(matching(adjustments.all(), call.query, filters), idOf, call, ADJUSTMENTS)
}

function listSubscriptions({ subscriptions }: ResellerRecords, call: ApiCall): object {
  const filters = ['id', 'status', 'customer_id', 'address_id', 'collection_mode']
  const actions = call.query.get('scheduled_change_action')?.split(',')
  const found = matching(subscriptions.all(), call.query, filters, ['scheduled_change_action']).filter(
    ({ scheduled_change: scheduled }) =>
      actions === undefined || (scheduled != null && actions.includes(scheduled.action)),
  )
  return pageOf(found, idOf, call, SUBSCRIPTIONS)
}

function listTransactions(records: ResellerRecords, call: ApiCall): object {
  const filters = ['id', 'status', 'customer_id', 'subscription_id', 'invoice_number', 'origin', 'collection_mode']
  const found = matching(records.transactions.all(), call.query, filters, ['include'])
  const page = pageOf(found, idOf, call, TRANSACTIONS)
  return { ...page, data: page.data.map(transaction => withIncluded(records, transaction, call.query)) }
}

function getTransaction(records: ResellerRecords, id: string, { query }: ApiCall): object {
  return { data: withIncluded(records, records.transactions.existing(id), query) }
}

function listEvents(records: ResellerRecords, call: ApiCall): object {
  const page = pageOf(matching(records.events(), call.query, ['event_type']), event => event.event_id, call, EVENTS)
  // Events in the API have no notification id.
  return { ...page, data: page.data.map(event => ({ ...event, notification_id: null })) }
}

const idOf = (item: { id: string }) => item.id

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
