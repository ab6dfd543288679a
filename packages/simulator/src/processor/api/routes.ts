/** The answers of the processor's API by path, without HTTP. */
import type { Posting } from '../../account/event-feed.ts'
import type { ApiCall } from '../../api/provider-api.ts'
import type { CardProcessor, ProcessorRecords } from '../account.ts'
import type { ProcessorEvent } from '../events.ts'
import type { ProcessorSubscription } from '../objects/subscription.ts'
import { invalidRequest, noSuch, ProcessorRefusal } from '../refusal.ts'
import { pageOf } from './page.ts'
import { answerWrite, unknownParameter } from './writes.ts'

const PAGING = ['limit', 'starting_after', 'ending_before', 'expand[]', 'expand[0]', 'expand[1]', 'expand[2]']
const CREATED = ['created', 'created[gt]', 'created[gte]', 'created[lt]', 'created[lte]']
const THIRTY_DAYS_S = 30 * 86_400

/**
 * Answers one call with the objects that can be read.
 * @throws ProcessorRefusal if the API refuses the request
 */
export function answerCall(processor: CardProcessor, call: ApiCall): object {
  const [version, resource = '', id, ...rest] = call.path.split('/').slice(1)
  if (version === 'v1' && rest.length === 0) {
    const name = id === undefined ? undefined : decodeURIComponent(id)
    const body =
      call.method === 'GET' ? read(processor, resource, name, call) : answerWrite(processor, resource, name, call)
    if (body !== undefined) return body
  }
  throw new ProcessorRefusal(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${call.method}: ${call.path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  })
}

function read(processor: CardProcessor, resource: string, id: string | undefined, call: ApiCall): object | undefined {
  const records = processor.asOf(call.readAtMs)
  return id === undefined ? list(records, resource, call) : retrieve(records, resource, id, call)
}

function list(records: ProcessorRecords, resource: string, { query, path, nowMs }: ApiCall): object | undefined {
  const page = <T extends { id: string; object: string; created: number }>(items: readonly T[], filters: string[]) => {
    allowOnly(query, [...PAGING, ...CREATED, ...filters])
    return pageOf(items.filter(matching(query, filters)), query, path)
  }
  switch (resource) {
    case 'refunds':
      return page(records.refunds.all(), ['charge', 'payment_intent'])
    case 'charges':
      return page(records.charges.all(), ['customer', 'payment_intent'])
    case 'payment_intents':
      return page(records.paymentIntents.all(), ['customer'])
    case 'disputes':
      return page(records.disputes.all(), ['charge', 'payment_intent'])
    case 'subscriptions': {
      allowOnly(query, [...PAGING, ...CREATED, 'customer', 'status'])
      const wanted = records.subscriptions.all().filter(matching(query, ['customer']))
      return pageOf(wanted.filter(ofStatus(query.get('status'))), query, path)
    }
    case 'subscription_schedules':
      return page(records.schedules.all(), ['customer'])
    case 'events':
      return listEvents(records, query, path, nowMs / 1000)
    default:
      return undefined
  }
}

/** Canceled subscriptions are listed only on request. */
function ofStatus(status: string | null): (subscription: ProcessorSubscription) => boolean {
  if (status === 'all') return () => true
  if (status === null) return subscription => subscription.status !== 'canceled'
  return subscription => subscription.status === (status === 'ended' ? 'canceled' : status)
}

function listEvents(records: ProcessorRecords, query: URLSearchParams, path: string, nowS: number): object {
  const typeNames = [...query.keys()].filter(name => /^types\[\d*\]$/.test(name))
  allowOnly(query, [...PAGING, ...CREATED, 'type', 'delivery_success', ...typeNames])
  const types = new Set(typeNames.flatMap(name => query.getAll(name)))
  const type = query.get('type')
  const delivered = query.get('delivery_success')
  if (types.size > 20) throw invalidRequest('You may pass at most 20 types.', 'types')
  if (types.size > 0 && type !== null) throw invalidRequest('You may pass type or types, but not both.', 'type')
  // A type may be a pattern such as `refund.*`.
  const isOfType = (event: ProcessorEvent) =>
    type === null || event.type === type || (type.endsWith('*') && event.type.startsWith(type.slice(0, -1)))
  const wanted = records
    .events()
    .filter(event => event.created > nowS - THIRTY_DAYS_S)
    .filter(event => (types.size === 0 || types.has(event.type)) && isOfType(event))
    .filter(event => deliveredAs(records.postingOf(event), delivered))
  const page = pageOf(wanted, query, path)
  return { ...page, data: page.data.map(event => readEvent(records, event)) }
}

/** Events in flight count as not delivered. */
function deliveredAs(posting: Posting, wanted: string | null): boolean {
  if (wanted === null) return true
  const isOpen = posting === 'scheduled' || posting === 'failed'
  return isOpen === (wanted === 'false')
}

/** An event with the number of endpoints that have not accepted it yet. */
function readEvent(records: ProcessorRecords, event: ProcessorEvent): ProcessorEvent {
  return { ...event, pending_webhooks: records.postingOf(event) === 'scheduled' ? 1 : 0 }
}

function retrieve(records: ProcessorRecords, resource: string, id: string, { query }: ApiCall): object | undefined {
  allowOnly(query, PAGING.slice(3))
  const found = <T>(kind: string, item: T | undefined, param?: string): T => {
    if (item === undefined) throw noSuch(kind, id, param)
    return item
  }
  switch (resource) {
    case 'refunds':
      return expanded(records, found('refund', records.refunds.get(id), 'refund'), query)
    case 'charges':
      return expanded(records, found('charge', records.charges.get(id)), query)
    case 'payment_intents':
      return found('payment_intent', records.paymentIntents.get(id))
    case 'customers':
      return found('customer', records.customers.get(id))
    case 'disputes':
      return found('dispute', records.disputes.get(id))
    case 'subscriptions':
      return expanded(records, found('subscription', records.subscriptions.get(id)), query)
    case 'subscription_schedules':
      return found('subscription schedule', records.schedules.get(id))
    case 'events':
      return readEvent(
        records,
        found(
          'event',
          records.events().find(event => event.id === id),
        ),
      )
    default:
      return undefined
  }
}

/** The object with the objects that `expand` names instead of their ids. Objects that the account does not keep stay ids. */
function expanded<T extends object>(records: ProcessorRecords, object: T, query: URLSearchParams): T {
  const views = { charge: records.charges, customer: records.customers, payment_intent: records.paymentIntents }
  const expand = (item: object, [name, ...rest]: readonly string[]): object => {
    const view = name === undefined ? undefined : Reflect.get(views, name)
    const kept = view?.get(String(Reflect.get(item, name ?? '')))
    return name === undefined || kept === undefined ? item : { ...item, [name]: expand(kept, rest) }
  }
  const paths = [...query].filter(([name]) => name.startsWith('expand[')).map(([, path]) => path.split('.'))
  return paths.reduce((item: object, path) => expand(item, path), object) as T
}

function matching(query: URLSearchParams, names: readonly string[]): (item: object) => boolean {
  return item => names.every(name => !query.has(name) || Reflect.get(item, name) === query.get(name))
}

function allowOnly(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) if (!names.includes(name)) throw unknownParameter(name)
}
