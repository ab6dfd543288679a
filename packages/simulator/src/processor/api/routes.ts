/** The answers of the processor's API by path, without HTTP. */
import type { Posting } from '../../account/event-feed.ts'
import type { View } from '../../account/object-history.ts'
import type { ApiCall } from '../../api/provider-api.ts'
import { type Resources, readResource } from '../../api/resources.ts'
import type { CardProcessor } from '../account.ts'
import type { ProcessorRecords } from '../account-state.ts'
import type { ProcessorEvent } from '../events.ts'
import type { ProcessorSubscription } from '../objects/subscription.ts'
import { invalidRequest, noSuch, ProcessorRefusal } from '../refusal.ts'
import { thinEventOf, thinIdOf } from '../thin-events.ts'
import { type Listed, pageOf } from './page.ts'
import { answerWrite, unknownParameter } from './writes.ts'

const EXPAND = ['expand[]', 'expand[0]', 'expand[1]', 'expand[2]']
const PAGING = ['limit', 'starting_after', 'ending_before', ...EXPAND]
const CREATED = ['created', 'created[gt]', 'created[gte]', 'created[lt]', 'created[lte]']
const THIRTY_DAYS_S = 30 * 86_400

const RESOURCES: Resources<ProcessorRecords> = new Map([
  ['refunds', { list: listOf(({ refunds }) => refunds.all(), 'charge', 'payment_intent'), get: getOf('refunds') }],
  ['charges', { list: listOf(({ charges }) => charges.all(), 'customer', 'payment_intent'), get: getOf('charges') }],
  ['payment_intents', { list: listOf(of => of.paymentIntents.all(), 'customer'), get: getOf('paymentIntents') }],
  ['disputes', { list: listOf(({ disputes }) => disputes.all(), 'charge', 'payment_intent'), get: getOf('disputes') }],
  ['subscriptions', { list: listSubscriptions, get: getOf('subscriptions') }],
  ['subscription_schedules', { list: listOf(({ schedules }) => schedules.all(), 'customer'), get: getOf('schedules') }],
  ['events', { list: listEvents, get: getEvent }],
  ['customers', { get: getOf('customers') }],
])

/**
 * Answers one call with the objects that can be read.
 * @throws ProcessorRefusal if the API refuses the request
 */
export function answerCall(processor: CardProcessor, call: ApiCall): object {
  const [version, ...path] = call.path.split('/').slice(1).map(decodeURIComponent)
  if (version === 'v1') {
    const body =
      call.method === 'GET'
        ? readResource(RESOURCES, processor.asOf(call.readAtMs), path, call)
        : answerWrite(processor, path, call)
    if (body !== undefined) return body
  }
  const [resource, id] = path.slice(1)
  if (version === 'v2' && path[0] === 'core' && resource === 'events' && id !== undefined && call.method === 'GET') {
    return getThinEvent(processor.asOf(call.readAtMs), id)
  }
  throw new ProcessorRefusal(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${call.method}: ${call.path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  })
}

function listOf(itemsOf: (records: ProcessorRecords) => readonly Listed[], ...filters: readonly string[]) {
  return (records: ProcessorRecords, { query, path }: ApiCall) => {
    allowOnly(query, [...PAGING, ...CREATED, ...filters])
    return pageOf(itemsOf(records).filter(matching(query, filters)), query, path)
  }
}

function getOf(type: Exclude<keyof ProcessorRecords, 'events' | 'postingOf'>) {
  return (records: ProcessorRecords, id: string, { query }: ApiCall): object => {
    allowOnly(query, EXPAND)
    const view: View<object> = records[type]
    return expanded(records, view.existing(id), query)
  }
}

function listSubscriptions({ subscriptions }: ProcessorRecords, { query, path }: ApiCall): object {
  allowOnly(query, [...PAGING, ...CREATED, 'customer', 'status'])
  const wanted = subscriptions.all().filter(matching(query, ['customer']))
  return pageOf(wanted.filter(ofStatus(query.get('status'))), query, path)
}

/** Canceled subscriptions are listed only on request. */
function ofStatus(status: string | null): (subscription: ProcessorSubscription) => boolean {
  if (status === 'all') return () => true
  if (status === null) return subscription => subscription.status !== 'canceled'
  return subscription => subscription.status === (status === 'ended' ? 'canceled' : status)
}

function listEvents(records: ProcessorRecords, { query, path, nowMs }: ApiCall): object {
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
    .filter(event => event.created > nowMs / 1000 - THIRTY_DAYS_S)
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

function getEvent(records: ProcessorRecords, id: string, { query }: ApiCall): object {
  allowOnly(query, EXPAND)
  const event = records.events().find(one => one.id === id)
  if (event === undefined) throw noSuch('event', id)
  return readEvent(records, event)
}

function getThinEvent(records: ProcessorRecords, id: string): object {
  const event = records.events().find(one => thinIdOf(one.id) === id)
  if (event === undefined) throw noSuch('event', id)
  return thinEventOf(event)
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
