/** What each path of the processor's API answers, apart from HTTP. */
import type Stripe from 'stripe'
import type { CardProcessor, RefundRequest } from '../card-processor.ts'
import { invalidRequest, noSuch, ProcessorRefusal } from '../processor-refusal.ts'
import { pageOf } from './page.ts'

export interface ApiCall {
  method: string
  path: string
  query: URLSearchParams
  /** The form-encoded body of a POST. */
  form: URLSearchParams
  idempotencyKey: string | null
}

const PAGING = ['limit', 'starting_after', 'ending_before', 'expand[]', 'expand[0]']
const CREATED = ['created', 'created[gt]', 'created[gte]', 'created[lt]', 'created[lte]']
const THIRTY_DAYS_S = 30 * 86_400

/**
 * Answers one call against the account as it stands.
 * @throws ProcessorRefusal for what the API refuses
 */
export function answerCall(processor: CardProcessor, call: ApiCall, nowS: number): object {
  const [version, resource, id, ...rest] = call.path.split('/').slice(1)
  if (version === 'v1' && rest.length === 0) {
    if (call.method === 'GET' && id === undefined) return list(processor, resource, call, nowS)
    if (call.method === 'GET' && id !== undefined) return retrieve(processor, resource, decodeURIComponent(id), call)
    if (call.method === 'POST' && id === undefined && resource === 'refunds') return createRefund(processor, call)
    if (call.method === 'POST' && id === undefined && resource === 'payment_intents') return pay(processor, call)
  }
  throw unknownPath(call)
}

function list(processor: CardProcessor, resource: string | undefined, call: ApiCall, nowS: number): object {
  const { query, path } = call
  switch (resource) {
    case 'refunds':
      allowOnly(query, [...PAGING, ...CREATED, 'charge', 'payment_intent'])
      return pageOf(processor.refunds().filter(matching(query, ['charge', 'payment_intent'])), query, path)
    case 'charges':
      allowOnly(query, [...PAGING, ...CREATED, 'customer', 'payment_intent'])
      return pageOf(processor.charges().filter(matching(query, ['customer', 'payment_intent'])), query, path)
    case 'payment_intents':
      allowOnly(query, [...PAGING, ...CREATED, 'customer'])
      return pageOf(processor.paymentIntents().filter(matching(query, ['customer'])), query, path)
    case 'events':
      return pageOf(wantedEvents(processor.events(), query, nowS), query, path)
    default:
      throw unknownPath(call)
  }
}

function wantedEvents(events: readonly Stripe.Event[], query: URLSearchParams, nowS: number): readonly Stripe.Event[] {
  const typeNames = [...query.keys()].filter(name => /^types\[\d*\]$/.test(name))
  allowOnly(query, [...PAGING, ...CREATED, 'type', 'delivery_success', ...typeNames])
  const types = new Set(typeNames.flatMap(name => query.getAll(name)))
  const type = query.get('type')
  if (types.size > 20) throw invalidRequest('You may pass at most 20 types.', 'types')
  if (types.size > 0 && type !== null) throw invalidRequest('You may pass type or types, but not both.', 'type')
  // The API shows events of the last 30 days only, and a type may be a pattern such as `refund.*`.
  return events
    .filter(event => event.created > nowS - THIRTY_DAYS_S)
    .filter(event => types.size === 0 || types.has(event.type))
    .filter(
      event => type === null || event.type === type || (type.endsWith('*') && event.type.startsWith(type.slice(0, -1))),
    )
}

function retrieve(processor: CardProcessor, resource: string | undefined, id: string, call: ApiCall): object {
  allowOnly(call.query, PAGING.slice(3))
  const lists: Record<string, { kind: string; items: readonly { id: string }[] }> = {
    refunds: { kind: 'refund', items: processor.refunds() },
    charges: { kind: 'charge', items: processor.charges() },
    payment_intents: { kind: 'payment_intent', items: processor.paymentIntents() },
    customers: { kind: 'customer', items: processor.customers() },
    events: { kind: 'event', items: processor.events() },
  }
  const found = resource === undefined ? undefined : lists[resource]
  if (found === undefined) throw unknownPath(call)
  const item = found.items.find(candidate => candidate.id === id)
  if (item === undefined) throw noSuch(found.kind, id, found.kind === 'refund' ? 'refund' : 'id')
  return item
}

/** POST /v1/refunds: so that a person can do with curl what a leaked key does. */
function createRefund(processor: CardProcessor, { form, idempotencyKey }: ApiCall): object {
  const request: RefundRequest = { idempotencyKey }
  for (const [name, value] of form) {
    const metadata = /^metadata\[([^\]]+)\]$/.exec(name)?.[1]
    if (metadata !== undefined) request.metadata = { ...request.metadata, [metadata]: value }
    else if (name === 'charge' || name === 'payment_intent') request[name] = value
    else if (name === 'reason') request.reason = value as NonNullable<RefundRequest['reason']>
    else if (name === 'amount') request.amount = integer(value, name)
    else throw unknownParameter(name)
  }
  return processor.refund(request)
}

/** POST /v1/payment_intents: a payment that succeeds at once, whatever the card. */
function pay(processor: CardProcessor, { form }: ApiCall): object {
  const currency = form.get('currency')
  if (currency === null) throw invalidRequest('Missing required param: currency.', 'currency', 'parameter_missing')
  const amount = form.get('amount')
  if (amount === null) throw invalidRequest('Missing required param: amount.', 'amount', 'parameter_missing')
  return processor.createPayment({ amount: integer(amount, 'amount'), currency }).paymentIntent
}

function matching(query: URLSearchParams, names: readonly string[]): (item: object) => boolean {
  return item => names.every(name => !query.has(name) || Reflect.get(item, name) === query.get(name))
}

function integer(text: string, name: string): number {
  if (!/^\d{1,12}$/.test(text)) throw invalidRequest(`Invalid integer: ${text}`, name, 'parameter_invalid_integer')
  return Number(text)
}

function allowOnly(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) if (!names.includes(name)) throw unknownParameter(name)
}

function unknownParameter(name: string): ProcessorRefusal {
  return invalidRequest(`Received unknown parameter: ${name}`, name, 'parameter_unknown')
}

function unknownPath({ method, path }: ApiCall): ProcessorRefusal {
  return new ProcessorRefusal(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path}). Please see https://stripe.com/docs or we can help at https://support.stripe.com/.`,
  })
}
