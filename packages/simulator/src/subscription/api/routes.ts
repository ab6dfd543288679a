/** The answers of the biller's API by path, without HTTP. */
import type { Posting } from '../../account/event-feed.ts'
import type { ApiCall } from '../../api/provider-api.ts'
import type { BillerRecords, SubscriptionBiller } from '../account.ts'
import type { BillerEvent } from '../events.ts'
import type { BillerSubscription } from '../objects/subscription.ts'
import { BillerRefusal, notFound } from '../refusal.ts'
import { filtered } from './filters.ts'
import { pageOf } from './page.ts'
import { answerWrite } from './writes.ts'

/** The age in seconds up to which events can be filtered by webhook_status. */
const STATUS_FILTER_DAYS_S = 6 * 86_400

/**
 * Answers one call with the objects that can be read.
 * @param keyNames the name of each key, which events show
 * @throws BillerRefusal if the API refuses the request
 */
export function answerCall(
  biller: SubscriptionBiller,
  call: ApiCall,
  keyNames: Readonly<Record<string, string>>,
): object {
  const [api, version, ...path] = call.path.split('/').slice(1).map(decodeURIComponent)
  if (api === 'api' && version === 'v2' && path.length <= 3) {
    const body = call.method === 'GET' ? read(biller, path, call) : answerWrite(biller, path, call, keyNames)
    if (body !== undefined) return body
  }
  throw new BillerRefusal(404, 'site_not_found', 'Sorry, the requested path is not found', { type: 'invalid_request' })
}

function read(biller: SubscriptionBiller, [resource, id, view]: readonly string[], call: ApiCall): object | undefined {
  if (resource === undefined) return undefined
  const records = biller.asOf(call.readAtMs)
  return id === undefined ? list(records, resource, call) : retrieve(records, resource, id, view)
}

function list(records: BillerRecords, resource: string, { query, nowMs }: ApiCall): object | undefined {
  switch (resource) {
    case 'transactions': {
      const names = ['id', 'customer_id', 'subscription_id', 'payment_method', 'gateway', 'id_at_gateway', 'type']
      const more = ['date', 'amount', 'status', 'updated_at', 'reference_number']
      const found = filtered(records.transactions.all(), query, [...names, ...more])
      return pageOf(found, query, ['date', 'amount', 'updated_at'], transaction => ({ transaction }))
    }
    case 'credit_notes': {
      const names = ['id', 'customer_id', 'subscription_id', 'reference_invoice_id', 'type', 'reason_code', 'status']
      const more = ['date', 'total', 'updated_at', 'amount_refunded', 'amount_available', 'channel']
      const found = filtered(records.creditNotes.all(), query, [...names, ...more])
      return pageOf(found, query, ['date'], credit_note => ({ credit_note }))
    }
    case 'subscriptions': {
      const names = ['id', 'customer_id', 'status', 'cancel_reason', 'cancel_reason_code', 'cancelled_at']
      const more = ['created_at', 'activated_at', 'next_billing_at', 'updated_at', 'remaining_billing_cycles']
      const found = filtered(records.subscriptions.all(), query, [...names, ...more])
      return pageOf(found, query, ['created_at', 'updated_at'], item => withBuyer(records, item))
    }
    case 'invoices': {
      const found = filtered(records.invoices.all(), query, ['id', 'customer_id', 'subscription_id', 'status', 'date'])
      return pageOf(found, query, ['date', 'updated_at'], invoice => ({ invoice }))
    }
    case 'events':
      return listEvents(records, query, nowMs)
    default:
      return undefined
  }
}

function listEvents(records: BillerRecords, query: URLSearchParams, nowMs: number): object {
  const names = ['id', 'event_type', 'occurred_at', 'source', 'webhook_status']
  const byStatus = [...query.keys()].some(name => name.startsWith('webhook_status['))
  const earliest = nowMs / 1000 - STATUS_FILTER_DAYS_S
  const shown = (event: BillerEvent) => readEvent(records, event)
  const events = byStatus
    ? records
        .events()
        .filter(event => event.occurred_at > earliest)
        .map(shown)
    : records.events()
  return pageOf(filtered(events, query, names), query, ['occurred_at'], event => ({
    event: byStatus ? event : shown(event),
  }))
}

function retrieve(records: BillerRecords, resource: string, id: string, view: string | undefined): object | undefined {
  const found = <T>(item: T | undefined): T => {
    if (item === undefined) throw notFound(id)
    return item
  }
  if (resource === 'subscriptions' && (view === undefined || view === 'retrieve_with_scheduled_changes')) {
    return withBuyer(records, found(records.subscriptions.get(id)))
  }
  if (view !== undefined) return undefined
  switch (resource) {
    case 'transactions':
      return { transaction: found(records.transactions.get(id)) }
    case 'credit_notes':
      return { credit_note: found(records.creditNotes.get(id)) }
    case 'invoices':
      return { invoice: found(records.invoices.get(id)) }
    case 'customers':
      return { customer: found(records.customers.get(id)) }
    case 'events':
      return { event: readEvent(records, found(records.events().find(event => event.id === id))) }
    default:
      return undefined
  }
}

function withBuyer(records: BillerRecords, subscription: BillerSubscription): object {
  return { subscription, customer: records.customers.get(subscription.customer_id) }
}

const WEBHOOK_STATUS: Record<Posting, BillerEvent['webhook_status']> = {
  unposted: 'not_configured',
  skipped: 'skipped',
  scheduled: 'scheduled',
  succeeded: 'succeeded',
  failed: 'failed',
}

/** An event with the result of posting it. */
function readEvent(records: BillerRecords, event: BillerEvent): BillerEvent {
  const posting = records.postingOf(event)
  const webhook_status = WEBHOOK_STATUS[posting]
  const webhooks = posting === 'unposted' ? [] : [{ id: 'whv2_16BthSM04GsW8lyy', webhook_status }]
  return { ...event, webhook_status, webhooks }
}
